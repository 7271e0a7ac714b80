package kept

import (
	"bytes"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// formatVersion grows when an older reader would misunderstand a newer file.
const formatVersion = 1

// mark is how every file begins.
const mark = `{"kubectlGCHistory":`

// title is the first line of a file. It is never encrypted.
type title struct {
	Format    int    `json:"kubectlGCHistory"`
	ID        []byte `json:"id"`
	Encrypted bool   `json:"encrypted,omitzero"`
}

// line is the title as it is written.
func (t title) line() ([]byte, error) {
	text, err := json.Marshal(t)
	return append(text, '\n'), err
}

// wrote reports whether a line is that of the title: the last bits of an id can be others that
// mean the same.
func (t title) wrote(line []byte) bool {
	own, err := t.line()
	return err == nil && bytes.Equal(own, line)
}

// Cluster is whose history it is.
type Cluster struct {
	UID     types.UID `json:"uid,omitzero"`
	Server  string    `json:"server,omitzero"`
	Context string    `json:"context,omitzero"`
	Version string    `json:"version,omitzero"`
}

// entry is one of these.
type entry struct {
	Head   *head                     `json:"head,omitzero"`
	Served []snapshot.StoredResource `json:"served,omitempty"`

	// Span, Limit, Stood, Elsewhere and Absent are of a past that was read from a server.
	Span      *span                  `json:"span,omitzero"`
	Limit     *limit                 `json:"limit,omitzero"`
	Stood     *snapshot.StoredObject `json:"stood,omitzero"`
	Elsewhere *snapshot.StoredObject `json:"elsewhere,omitzero"`
	Absent    *ref                   `json:"absent,omitzero"`

	// Begin, Object and Listed are a list of a kind that is watched from then on.
	Begin  *kind                  `json:"begin,omitzero"`
	Object *snapshot.StoredObject `json:"object,omitzero"`
	Listed *listed                `json:"listed,omitzero"`
	// Broken is a kind of which nothing is seen until it is listed again.
	Broken *broken `json:"broken,omitzero"`
	// Settled is a revision up to which everything was seen.
	Settled uint64 `json:"settled,omitzero"`

	Change *change `json:"change,omitzero"`
	Body   *body   `json:"body,omitzero"`
	Tick   *tick   `json:"tick,omitzero"`
}

// head is the first entry of a file.
type head struct {
	Cluster Cluster   `json:"cluster"`
	Created time.Time `json:"created,omitzero"`
	// Run is the same for the segments of one run, of which each follows the one before
	// without a gap; empty for a past that was read from a server.
	Run string `json:"run,omitzero"`
	// At is up to where the segment before has seen everything that this one begins with.
	At uint64 `json:"at,omitzero"`
	// Secrets says that the content of Secrets is in here.
	Secrets bool `json:"secrets,omitzero"`
}

type span struct {
	From tick `json:"from"`
	To   tick `json:"to"`
}

type limit struct {
	Resource snapshot.StoredResource `json:"resource"`
	From     tick                    `json:"from,omitzero"`
	Listed   bool                    `json:"listed,omitzero"`
	Why      string                  `json:"why,omitzero"`
}

type ref struct {
	APIVersion string    `json:"apiVersion,omitzero"`
	Kind       string    `json:"kind,omitzero"`
	Namespace  string    `json:"namespace,omitzero"`
	Name       string    `json:"name,omitzero"`
	UID        types.UID `json:"uid,omitzero"`
}

// kind is a resource without its version.
type kind struct {
	Group string `json:"group,omitzero"`
	Kind  string `json:"kind"`
}

func kindOf(r object.Resource) kind { return kind{r.Group, r.Kind} }

func kindOfRef(r object.Ref) kind { return kind{r.Group(), r.Kind} }

type listed struct {
	kind
	At uint64 `json:"at"`
}

type broken struct {
	kind
	Why string `json:"why,omitzero"`
}

// change is a write.
type change struct {
	Revision uint64 `json:"revision"`
	// After and Unseen are those of history.Change.
	After  uint64                 `json:"after,omitzero"`
	Unseen bool                   `json:"unseen,omitzero"`
	Type   object.EventType       `json:"type,omitzero"`
	Object *snapshot.StoredObject `json:"object"`
	// Old is what it was before, where what stands before in the history does not tell.
	Old *snapshot.StoredObject `json:"old,omitzero"`
	// Before is the revision of the write before it; 0 where it is not known.
	Before uint64 `json:"before,omitzero"`
	// Body is the whole object as the write has left it.
	Body jsontext.Value `json:"body,omitempty"`
}

// body is a whole object as it was from a revision up to another one, and not any more there.
type body struct {
	Kind  kind           `json:"kind"`
	From  uint64         `json:"from"`
	Until uint64         `json:"until"`
	Text  jsontext.Value `json:"text"`
}

// tick is a history.Moment.
type tick struct {
	Revision uint64 `json:"revision,omitzero"`
	Time     int64  `json:"time,omitzero"`
}

func (t tick) moment() history.Moment { return history.Moment(t) }
