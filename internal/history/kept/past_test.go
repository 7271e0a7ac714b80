package kept

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestBeginning: a history begins where it is known when, unless something went before.
func TestBeginning(t *testing.T) {
	o := &object.Object{Ref: object.Namespace.Ref("", "pay")}
	for typ, want := range map[object.EventType]history.Moment{
		object.Modified: {Revision: 20, Time: 100},
		object.Deleted:  {Revision: 10},
	} {
		a := &annals{
			from: 10, to: 30, served: &object.Resources{},
			ticks:   []history.Moment{{Revision: 20, Time: 100}},
			changes: []history.Change{{Revision: 15, Type: typ, Object: o}},
		}
		p, err := a.past(history.Window{})
		if err != nil || p.From != want {
			t.Errorf("with %s: %v, %v, want %v", typ, p, err, want)
		}
	}
}

// TestLimitOfQuietPast: what a server could not say of a past in which nothing was written is
// still not known when that past is read again.
func TestLimitOfQuietPast(t *testing.T) {
	served := &object.Resources{}
	served.Add(object.Namespace.Resource())
	a := &annals{from: 10, to: 10, served: served, kinds: map[kind]*story{}}
	k := kindOf(object.Namespace.Resource())
	a.of(k).begin = 10
	a.holes = []hole{{kind: k, until: 10, limit: &history.Limit{Resource: object.Namespace.Resource(), Why: "forbidden"}}}
	p, err := a.past(history.Window{})
	if err != nil || len(p.Limits) != 1 || p.Limits[0].Why != "forbidden" {
		t.Errorf("%+v, %v", p, err)
	}
}
