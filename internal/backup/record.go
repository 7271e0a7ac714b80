package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// RecordKind is the kind of a journal line.
type RecordKind string

// The kinds of records.
const (
	// Sealed: the first line. The backup is complete.
	Sealed RecordKind = "sealed"
	// Saved: a newer version of an object was added after sealing.
	Saved RecordKind = "saved"
	// Intended: a request is about to be sent.
	Intended RecordKind = "intent"
	// Answered: the result of a request.
	Answered RecordKind = "result"
	// Ended: the last line of a finished run.
	Ended RecordKind = "end"
)

// Outcome is what is known about the effect of a request.
type Outcome string

// The outcomes.
const (
	// Confirmed: the server answered that it was done.
	Confirmed Outcome = "confirmed"
	// Refused: the server answered that it was not done, or the request was never sent.
	Refused Outcome = "refused"
	// Unknown: the request was sent, and no answer tells its effect.
	Unknown Outcome = "unknown"
)

// Intent is a request that is about to be sent.
type Intent struct {
	Time   time.Time
	Object object.Ref
	// Verb is DELETE, PATCH, POST or PUT.
	Verb string
	// ResourceVersion is the precondition. It is empty if only the UID is one.
	ResourceVersion string
	// Body is the JSON that is sent: delete options, a patch or an object.
	Body json.RawMessage
}

// Result is the result of a request.
type Result struct {
	Time    time.Time
	Outcome Outcome
	// Code is the HTTP status; 0 without an answer.
	Code int
	// Message is the server's message. It is untrusted text.
	Message string
}

// Record is one line of the journal. The fields after Time depend on the kind. Saved has no time.
type Record struct {
	// Seq is the number of the line, counted from 1.
	Seq  int
	Kind RecordKind
	Time time.Time

	// Intent is set for Intended.
	Intent Intent
	// Of is the Seq of the intent, and Result its result. Both are set for Answered.
	Of     int
	Result Result
	// Entry is set for Saved.
	Entry Entry
}

// storedRecord is a line without its sum.
type storedRecord struct {
	Seq             int             `json:"seq"`
	Prev            string          `json:"prev"`
	Kind            RecordKind      `json:"kind"`
	Time            time.Time       `json:"time,omitzero"`
	Object          *storedRef      `json:"object,omitzero"`
	Verb            string          `json:"verb,omitzero"`
	ResourceVersion string          `json:"resourceVersion,omitzero"`
	Body            json.RawMessage `json:"body,omitempty"`
	Of              int             `json:"of,omitzero"`
	Outcome         Outcome         `json:"outcome,omitzero"`
	Code            int             `json:"code,omitzero"`
	Message         string          `json:"message,omitzero"`
	Entry           *storedEntry    `json:"entry,omitzero"`
}

// A line is `{"sum":"<hash>",` and the rest of the record. The hash is that of the record without
// the sum. Each record contains the hash of the line before it, and the first one that of the
// manifest.
const (
	sumOpen  = `{"sum":"`
	sumClose = `",`
	sumEnd   = len(sumOpen) + 2*sha256.Size + len(sumClose)
)

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// encode returns the line of a record and its hash, which the next line must contain.
func encode(r *Record, prev string) (line []byte, sum string, err error) {
	s := storedRecord{Seq: r.Seq, Prev: prev, Kind: r.Kind, Time: r.Time.UTC()}
	switch r.Kind {
	case Intended:
		ref := storedRef(r.Intent.Object)
		s.Object, s.Verb, s.ResourceVersion, s.Body = &ref, r.Intent.Verb, r.Intent.ResourceVersion, r.Intent.Body
	case Answered:
		s.Of, s.Outcome, s.Code, s.Message = r.Of, r.Result.Outcome, r.Result.Code, r.Result.Message
	case Saved:
		e := r.Entry.stored()
		s.Entry = &e
	case Sealed, Ended:
	}
	body, err := marshal(s)
	if err != nil {
		return nil, "", fmt.Errorf("a line of the journal: %w", err)
	}
	sum = sumOf(body)
	line = make([]byte, 0, sumEnd+len(body))
	line = append(append(append(line, sumOpen...), sum...), sumClose...)
	line = append(append(line, body[1:]...), '\n')
	if len(line) > maxLine {
		return nil, "", fmt.Errorf("a line of the journal has %d bytes, at most %d are kept", len(line), maxLine)
	}
	return line, sum, nil
}

// decode reads a line without its newline. complaint is empty if the line is valid.
func decode(line []byte, prev string) (s storedRecord, sum, complaint string) {
	if len(line) < sumEnd || !strings.HasPrefix(string(line[:len(sumOpen)]), sumOpen) ||
		string(line[sumEnd-len(sumClose):sumEnd]) != sumClose {
		return s, "", "it does not start with a hash"
	}
	sum = string(line[len(sumOpen) : sumEnd-len(sumClose)])
	body := append([]byte{'{'}, line[sumEnd:]...)
	if sumOf(body) != sum {
		return s, "", "its hash is not that of what it says"
	}
	if err := json.Unmarshal(body, &s); err != nil {
		return s, "", "it is no record: " + err.Error()
	}
	if s.Prev != prev {
		return s, "", "it does not follow what stands before it"
	}
	return s, sum, ""
}
