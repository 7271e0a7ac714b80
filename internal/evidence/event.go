package evidence

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Event is a core/v1 or events.k8s.io/v1 event about an object.
type Event struct {
	About   object.Ref `json:"about"`
	Warning bool       `json:"warning,omitzero"`
	Reason  string     `json:"reason,omitzero"`
	Note    string     `json:"note,omitzero"`
	From    string     `json:"from,omitzero"`
	// Last is the time of the last occurrence, in seconds since 1970. 0 if unknown.
	Last int64 `json:"last,omitzero"`
}

type involved struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Namespace  string    `json:"namespace"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
}

// eventBody is an event of either API group.
type eventBody struct {
	Metadata struct {
		Created stamp `json:"creationTimestamp"`
	} `json:"metadata"`
	Involved  involved `json:"involvedObject"`
	Regarding involved `json:"regarding"`
	Type      string   `json:"type"`
	Reason    string   `json:"reason"`
	Message   string   `json:"message"`
	Note      string   `json:"note"`
	Last      stamp    `json:"lastTimestamp"`
	OldLast   stamp    `json:"deprecatedLastTimestamp"`
	At        stamp    `json:"eventTime"`
	Series    struct {
		Last stamp `json:"lastObservedTime"`
	} `json:"series"`
	Source struct {
		Component string `json:"component"`
	} `json:"source"`
	From string `json:"reportingComponent"`
	By   string `json:"reportingController"`
}

// takeEvent reads events of both API groups.
func (s *Shown) takeEvent(_ *body, raw []byte) error {
	var d eventBody
	if err := decode(raw, &d); err != nil {
		return err
	}
	about := d.Involved
	if about.Kind == "" {
		about = d.Regarding
	}
	e := Event{About: object.Ref(about), Warning: d.Type == "Warning", Reason: d.Reason, Note: d.Message + d.Note}
	for _, from := range []string{d.By, d.From, d.Source.Component} {
		if e.From == "" {
			e.From = from
		}
	}
	for _, at := range []stamp{d.Series.Last, d.Last, d.OldLast, d.At, d.Metadata.Created} {
		if e.Last == 0 {
			e.Last = at.seconds
		}
	}
	s.Events = append(s.Events, e)
	return nil
}
