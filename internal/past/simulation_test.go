package past_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// stage is a simulated cluster with the garbage collector and the controllers that records every
// write.
type stage struct {
	*apisim.Server
	resources   *object.Resources
	collector   *engine.Collector
	controllers []controllers.Controller
	// first is the state at the beginning of the past, changes are the writes since.
	first   []*object.Object
	from    uint64
	changes []past.Change
	// between is called before the collector sees the latest events.
	between func()
}

func newStage(objects []*object.Object) *stage {
	s := &stage{resources: scenario.Resources(), collector: engine.New()}
	s.Server = apisim.New(objects, s.resources, apisim.WithClock(scenario.Start), apisim.WithGivenUIDs())
	s.controllers = controllers.All(s.Server, controllers.Healthy{}, release.Rules{})
	for _, o := range s.Objects() {
		if s.watched(o) {
			s.collector.Observe(object.Event{Type: object.Added, Object: o})
		}
	}
	for _, c := range s.controllers {
		switch c.Name() { // these must have seen an object before it is deleted
		case controllers.EndpointsName, controllers.MirroringName, controllers.AllocatorName, controllers.ReclaimName, controllers.TokensName:
			_, _ = c.Step(context.Background(), s.Server, controllers.To(s.Server))
		}
		if l, ok := c.(controllers.Looker); ok {
			l.Look(s.Server)
		}
	}
	s.begin()
	return s
}

// begin sets the beginning of the past.
func (s *stage) begin() {
	for _, e := range s.Events() {
		s.collector.Observe(e)
	}
	s.first, s.from, s.changes = s.Objects(), 0, nil
	for _, o := range s.first {
		s.from = max(s.from, revision(o))
	}
}

func revision(o *object.Object) uint64 {
	n, _ := strconv.ParseUint(o.ResourceVersion, 10, 64)
	return n
}

func (s *stage) watched(o *object.Object) bool {
	r, err := s.resources.For(o.APIVersion, o.Kind)
	return err == nil && s.resources.Monitored(r)
}

// Events returns the events of the collector's watches.
func (s *stage) Events() []object.Event {
	if s.between != nil {
		s.between()
	}
	var seen []object.Event
	for _, e := range s.Server.Events() {
		s.changes = append(s.changes, past.Change{Revision: revision(e.Object), Type: e.Type, Object: e.Object, Old: e.Old})
		if s.watched(e.Object) {
			seen = append(seen, e)
		}
	}
	return seen
}

// settle runs the collector until it is idle, and the controllers in between.
func (s *stage) settle(list []controllers.Controller) error {
	var failed error
	idle := func() bool {
		acted, err := controllers.Step(context.Background(), s.Server, controllers.To(s.Server), list, nil)
		failed = err
		return acted != nil
	}
	if err := engine.Drain(context.Background(), s.collector, s, engine.Follow{Idle: idle}); err != nil {
		return err
	}
	return failed
}

// past returns what a reader would know: the changes and the objects that they depend on, except
// the hidden ones.
func (s *stage) past(hidden func(object.Ref) bool) *past.Record {
	s.Events()
	p := &past.Record{From: past.Moment{Revision: s.from}, Resources: s.resources, Minor: 36, Changes: slices.Clone(s.changes)}
	changed, wanted := map[object.Ref]bool{}, map[object.Ref]bool{}
	for _, c := range p.Changes {
		changed[c.Object.WithoutUID()] = true
		p.To.Revision = c.Revision
	}
	stood := map[object.Ref]*object.Object{}
	for _, o := range s.first {
		stood[o.WithoutUID()] = o
	}
	for _, o := range s.first { // without them it is unknown what a namespace waits for
		if o.Kind == "Pod" && o.BeingDeleted() && !changed[o.WithoutUID()] {
			p.Unchanged = append(p.Unchanged, o)
			wanted[o.WithoutUID()] = true
		}
	}
	for _, c := range p.Changes {
		for _, o := range []*object.Object{c.Old, c.Object} {
			if o == nil {
				continue
			}
			for _, ref := range past.RelevantRefs(o, s.resources) {
				if r, err := s.resources.For(ref.APIVersion, ref.Kind); err == nil {
					ref.Kind = r.Kind
					if preferred, ok := s.resources.Preferred(r.GroupResource()); ok {
						ref.APIVersion = preferred.APIVersion()
					}
				}
				if ref.Kind == "Event" { // two groups serve them
					ref.APIVersion = "v1"
				}
				if wanted[ref] || changed[ref] || hidden != nil && hidden(ref) {
					continue
				}
				wanted[ref] = true
				if o := stood[ref]; o != nil {
					p.Unchanged = append(p.Unchanged, o)
				} else {
					p.Absent = append(p.Absent, ref)
				}
			}
		}
	}
	return p
}

// tell returns an account as text: the requests, each with its losses.
func tell(a *past.Account) string {
	var b strings.Builder
	names := map[types.UID]string{}
	for _, l := range a.Losses {
		names[l.Object.UID] = string(l.Object.UID)
	}
	for k, r := range a.Requests {
		fmt.Fprintf(&b, "%d %s", k+1, r.Policy)
		for _, i := range r.Losses {
			fmt.Fprintf(&b, " %s", ref(a.Losses[i].Object.Ref))
		}
		fmt.Fprintf(&b, " took=%d", r.Explains)
		for _, sent := range r.Sent {
			fmt.Fprintf(&b, " by %s", sent.User)
		}
		if !r.Certain {
			b.WriteString(" maybe")
		}
		b.WriteString("\n")
	}
	for _, l := range a.Losses {
		fmt.Fprintf(&b, "- %s %s", ref(l.Object.Ref), cause(l.Cause))
		for _, c := range l.Or {
			fmt.Fprintf(&b, " or %s", cause(c))
		}
		switch {
		case l.Orphaned:
			b.WriteString(", stays without")
			for _, o := range l.Owners {
				fmt.Fprintf(&b, " %s", ref(o))
			}
		case l.Gone == 0:
			b.WriteString(", is being deleted")
		case l.Gone != l.Began:
			b.WriteString(", went later")
		}
		if l.Sent != nil {
			fmt.Fprintf(&b, ", sent by %s (%s)", l.Sent.User, l.Match)
		}
		if l.Contradicts != nil {
			fmt.Fprintf(&b, ", against %s", cause(*l.Contradicts))
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

func ref(r object.Ref) string {
	if r.Name == "" {
		return r.Kind
	}
	return strings.TrimSpace(r.Kind + "/" + r.Name)
}

func cause(c past.Cause) string {
	text := string(c.Code)
	if c.By != (object.Ref{}) {
		text += "(" + ref(c.By) + ")"
	}
	if c.Request >= 0 {
		text += fmt.Sprintf(" of %d", c.Request+1)
	}
	return text
}
