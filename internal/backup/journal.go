package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
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
	Time   time.Time  `json:"-"`
	Object object.Ref `json:"object,omitzero"`
	// Verb is DELETE, PATCH, POST or PUT.
	Verb string `json:"verb,omitzero"`
	// ResourceVersion is the precondition. It is empty if only the UID is one.
	ResourceVersion string `json:"resourceVersion,omitzero"`
	// Body is the JSON that is sent: delete options, a patch or an object.
	Body json.RawMessage `json:"body,omitempty"`
}

// Result is the result of a request.
type Result struct {
	Time    time.Time `json:"-"`
	Outcome Outcome   `json:"outcome,omitzero"`
	// Code is the HTTP status; 0 without an answer.
	Code int `json:"code,omitzero"`
	// Message is the server's message. It is untrusted text.
	Message string `json:"message,omitzero"`
}

// Record is one line of the journal, without its sum. The fields after Time depend on the kind.
// Saved has no time.
type Record struct {
	// Seq is the number of the line, counted from 1. Prev is the hash of the line before.
	Seq  int        `json:"seq"`
	Prev string     `json:"prev"`
	Kind RecordKind `json:"kind"`
	Time time.Time  `json:"time,omitzero"`

	// Intent is set for Intended.
	Intent
	// Of is the Seq of the intent, and Result its result. Both are set for Answered.
	Of int `json:"of,omitzero"`
	Result
	// Entry is set for Saved.
	Entry Entry `json:"entry,omitzero"`
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
	s := *r
	s.Prev, s.Time = prev, r.Time.UTC()
	body, err := undo.Marshal(s)
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
func decode(line []byte, prev string) (s Record, sum, complaint string) {
	if len(line) < sumEnd || !strings.HasPrefix(string(line[:len(sumOpen)]), sumOpen) ||
		string(line[sumEnd-len(sumClose):sumEnd]) != sumClose {
		return s, "", "it does not start with a hash"
	}
	sum = string(line[len(sumOpen) : sumEnd-len(sumClose)])
	body := append([]byte{'{'}, line[sumEnd:]...)
	if sumOf(body) != sum {
		return s, "", "its hash does not match its content"
	}
	if err := json.Unmarshal(body, &s); err != nil {
		return s, "", "it is not a record: " + err.Error()
	}
	if s.Prev != prev {
		return s, "", "it does not follow the line before it"
	}
	s.Prev = "" // not needed any more
	return s, sum, ""
}

// journal appends records. Each is on the disk when append returns. Concurrent appends share one
// flush.
type journal struct {
	f File

	write sync.Mutex // guards the fields up to failed
	seq   int
	prev  string
	// failed is the first error. Nothing is written after it, so only the last line of a journal
	// can be torn.
	failed error

	flush  sync.Mutex // guards synced and lost
	synced int
	lost   error // the first flush that failed
}

// append numbers and writes a record and returns its number. It is safe for concurrent use.
func (j *journal) append(r *Record) (int, error) {
	seq, err := j.put(r)
	if err != nil {
		return 0, err
	}
	return seq, j.sync(seq)
}

func (j *journal) put(r *Record) (int, error) {
	j.write.Lock()
	defer j.write.Unlock()
	if j.failed != nil {
		return 0, j.failed
	}
	r.Seq = j.seq + 1
	line, sum, err := encode(r, j.prev)
	if err != nil {
		return 0, err // nothing was written
	}
	if _, err := j.f.Write(line); err != nil {
		j.failed = fmt.Errorf("%s: %w", journalName, err)
		return 0, j.failed
	}
	j.seq, j.prev = r.Seq, sum
	if r.Kind == Ended {
		j.failed = errClosed
	}
	return r.Seq, nil
}

// sync flushes the file unless records up to seq are on the disk already.
func (j *journal) sync(seq int) error {
	j.flush.Lock()
	defer j.flush.Unlock()
	if j.lost != nil || j.synced >= seq {
		return j.lost
	}
	j.write.Lock()
	upTo := j.seq
	j.write.Unlock()
	if err := j.f.Sync(); err != nil {
		// A second flush cannot repair what a failed one has lost, nor report it.
		j.lost = fmt.Errorf("%s: %w", journalName, err)
		j.write.Lock()
		defer j.write.Unlock()
		j.failed = j.lost
		return j.lost
	}
	j.synced = upTo
	return nil
}

// JournalError reports that a request or its result could not be written to the journal. No further
// request may be sent.
type JournalError struct{ Err error }

// Error names the journal and the underlying error.
func (e *JournalError) Error() string { return "the journal: " + e.Err.Error() }

// Unwrap returns the underlying error.
func (e *JournalError) Unwrap() error { return e.Err }

// ResultOf classifies the error of a write; the caller sets the time. A 4xx answer and a request
// that never left this machine are Refused. No answer, an unreadable answer and a 5xx are Unknown,
// since the request may have been carried out. So is a 404, 409, 412 or 422 to a retried request:
// the first attempt may have succeeded and caused it.
func ResultOf(err error) Result {
	if err == nil {
		return Result{Outcome: Confirmed}
	}
	r := Result{Outcome: Unknown, Message: err.Error()}
	var status apierrors.APIStatus
	var unserved *kube.UnservedPathError
	var dial *net.OpError
	var kind *object.UnknownKindError
	var namespace *object.NamespaceRequiredError
	var uncovered *object.UncoveredError
	switch {
	case errors.As(err, &status):
		r.Code = int(status.Status().Code)
		if r.Code >= http.StatusBadRequest && r.Code < http.StatusInternalServerError && !mayFollowOurs(err, r.Code) {
			r.Outcome = Refused
		}
	case errors.As(err, &unserved):
		r.Code, r.Outcome = http.StatusNotFound, Refused
	case errors.As(err, &dial) && dial.Op == "dial", errors.As(err, &kind), errors.As(err, &namespace), errors.As(err, &uncovered):
		r.Outcome = Refused // it was never sent
	}
	return r
}

// mayFollowOurs reports whether an answer may be caused by an earlier attempt of the same request
// that deleted or changed the object.
func mayFollowOurs(err error, code int) bool {
	switch code {
	case http.StatusNotFound, http.StatusConflict, http.StatusPreconditionFailed, http.StatusUnprocessableEntity:
		_, repeated := errors.AsType[*kube.RepeatedError](err)
		return repeated
	default:
		return false
	}
}
