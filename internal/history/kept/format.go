package kept

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// formatVersion is increased when an older reader would misunderstand a newer file.
const formatVersion = 2

// mark is the beginning of every file.
const mark = `{"kubectlGCHistory":`

// title is the first line of a file.
type title struct {
	Format  int       `json:"kubectlGCHistory"`
	Cluster Cluster   `json:"cluster"`
	Created time.Time `json:"created,omitzero"`
	// Secrets is true if the file has the content of Secrets.
	Secrets bool `json:"secrets,omitzero"`
	// From and To are the moments between which the history is complete, except for the limits.
	From tick `json:"from"`
	To   tick `json:"to"`
}

// Cluster is the cluster of a history.
type Cluster struct {
	UID     types.UID `json:"uid,omitzero"`
	Server  string    `json:"server,omitzero"`
	Context string    `json:"context,omitzero"`
	Version string    `json:"version,omitzero"`
}

// entry is a line after the first one. Exactly one field is set.
type entry struct {
	Served    []snapshot.StoredResource `json:"served,omitempty"`
	Limit     *limit                    `json:"limit,omitzero"`
	Tick      *tick                     `json:"tick,omitzero"`
	Stood     *snapshot.StoredObject    `json:"stood,omitzero"`
	Elsewhere *snapshot.StoredObject    `json:"elsewhere,omitzero"`
	Absent    *ref                      `json:"absent,omitzero"`
	Change    *change                   `json:"change,omitzero"`
	Body      *body                     `json:"body,omitzero"`
	// SHA256 is the hash of all lines before it. Only the last line has it.
	SHA256 []byte `json:"sha256,omitempty"`
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

// kind is a kind without its version.
type kind struct {
	Group string `json:"group,omitzero"`
	Kind  string `json:"kind"`
}

func kindOf(r object.Ref) kind { return kind{r.Group(), r.Kind} }

// change is a write.
type change struct {
	Revision uint64 `json:"revision"`
	// After and Unseen are as in history.Change.
	After  uint64                 `json:"after,omitzero"`
	Unseen bool                   `json:"unseen,omitzero"`
	Type   object.EventType       `json:"type,omitzero"`
	Object *snapshot.StoredObject `json:"object"`
	Old    *snapshot.StoredObject `json:"old,omitzero"`
}

// body is a whole object that existed from one revision until another one.
type body struct {
	Kind  kind           `json:"kind"`
	From  uint64         `json:"from"`
	Until uint64         `json:"until"`
	Text  jsontext.Value `json:"text"`
	// uid is the uid in Text.
	uid types.UID
}

// tick is a history.Moment.
type tick struct {
	Revision uint64 `json:"revision,omitzero"`
	Time     int64  `json:"time,omitzero"`
}

func (t tick) moment() history.Moment { return history.Moment(t) }
