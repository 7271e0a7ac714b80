package past

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// stage is a simulated cluster that records every write.
type stage struct {
	*apisim.Server
	resources *object.Resources
	collector *engine.Collector
	first     []*object.Object
	changes   []Change
}

func newStage(objects []*object.Object) *stage {
	s := &stage{resources: scenario.Resources(), collector: engine.New()}
	s.Server = apisim.New(objects, s.resources, apisim.WithClock(scenario.Start), apisim.WithGivenUIDs())
	s.first = s.Objects()
	for _, o := range s.first {
		if s.watched(o) {
			s.collector.Observe(object.Event{Type: object.Added, Object: o})
		}
	}
	return s
}

func revisionOf(o *object.Object) uint64 {
	n, _ := strconv.ParseUint(o.ResourceVersion, 10, 64)
	return n
}

func (s *stage) watched(o *object.Object) bool {
	r, err := s.resources.For(o.APIVersion, o.Kind)
	return err == nil && s.resources.Monitored(r)
}

// Events returns the events of the collector's watches.
func (s *stage) Events() []object.Event {
	var seen []object.Event
	for _, e := range s.Server.Events() {
		s.changes = append(s.changes, Change{Revision: revisionOf(e.Object), Type: e.Type, Object: e.Object, Old: e.Old})
		if s.watched(e.Object) {
			seen = append(seen, e)
		}
	}
	return seen
}

// begin returns the newest revision before any change.
func (s *stage) begin() (from uint64) {
	for _, o := range s.first {
		from = max(from, revisionOf(o))
	}
	return from
}

// drawHistory draws and runs events in a cluster.
func drawHistory(t *rapid.T) *stage {
	w := scenario.DrawCluster(t, scenario.Wild&^scenario.RepeatedUIDs)
	w.Objects = append(w.Objects, &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "Node", Name: "spare", UID: "spare"}, ResourceVersion: "1"})
	s := newStage(w.Objects)
	ctx := context.Background()
	for range rapid.IntRange(1, 4).Draw(t, "deeds") {
		target := rapid.SampledFrom(w.Objects).Draw(t, "target").Ref
		if rapid.Bool().Draw(t, "label") {
			if o, err := s.Get(ctx, target); err == nil {
				next := o.Clone()
				next.Labels = object.LabelsOf(map[string]string{"written": "yes"})
				_, _ = s.Update(ctx, next)
			}
		}
		var options metav1.DeleteOptions
		if p := rapid.SampledFrom(scenario.Policies).Draw(t, "policy"); p != "" {
			options.PropagationPolicy = &p
		}
		_ = s.Delete(ctx, target, options)
		if err := engine.Drain(ctx, s.collector, s, engine.Follow{}); err != nil {
			t.Fatal(err)
		}
	}
	s.Events()
	return s
}

// past returns everything that is known.
func (s *stage) past() *Record {
	p := &Record{From: Moment{Revision: s.begin()}, Resources: s.resources, Changes: slices.Clone(s.changes), Unchanged: s.first}
	p.To = p.From
	for _, c := range s.changes {
		p.To.Revision = c.Revision
	}
	return p
}

// Bodies passes every object as it was at a revision, like a server.
func (s *stage) Bodies(_ context.Context, c Collection, take func([]byte) error) error {
	for _, o := range s.at(c.Revision) {
		if o.APIVersion != c.APIVersion || o.Kind != c.Kind || c.Namespace != "" && o.Namespace != c.Namespace || c.Name != "" && o.Name != c.Name {
			continue
		}
		if err := take(bodyOf(o)); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) Past(context.Context, Window) (*Record, error) { return s.past(), nil }

// at returns the objects at a revision.
func (s *stage) at(revision uint64) []*object.Object {
	now := map[object.Ref]*object.Object{}
	for _, o := range s.first {
		now[o.Ref] = o
	}
	for _, c := range s.changes {
		switch {
		case c.Revision > revision:
		case c.Type == object.Deleted:
			delete(now, c.Object.Ref)
		default:
			now[c.Object.Ref] = c.Object
		}
	}
	var list []*object.Object
	for _, o := range now {
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
	return list
}

// findBody returns a whole object as a server shows it.
func bodyOf(o *object.Object) []byte {
	m := metav1.ObjectMeta{
		Namespace: o.Namespace, Name: o.Name, UID: o.UID, ResourceVersion: o.ResourceVersion, Generation: o.Generation,
		Finalizers: o.Finalizers(), DeletionGracePeriodSeconds: o.GracePeriod(),
	}
	for _, r := range o.Owners {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID, Controller: r.Controller.Bool(), BlockOwnerDeletion: r.BlockOwnerDeletion.Bool(),
		})
	}
	if o.BeingDeleted() {
		m.DeletionTimestamp = &metav1.Time{Time: time.Unix(o.DeletionTimestamp(), 0).UTC()}
	}
	text, err := json.Marshal(struct {
		APIVersion string            `json:"apiVersion"`
		Kind       string            `json:"kind"`
		Metadata   metav1.ObjectMeta `json:"metadata"`
		Data       string            `json:"data"`
	}{o.APIVersion, o.Kind, m, "content of " + o.Name})
	if err != nil {
		panic(err)
	}
	return text
}

// tell returns an account as text.
func tell(p *Record) string {
	a := Trace(p)
	var b strings.Builder
	for _, r := range a.Requests {
		fmt.Fprintf(&b, "request %+v\n", r)
	}
	for _, l := range a.Losses {
		fmt.Fprintf(&b, "%s %s asked=%d gone=%d policy=%s orphaned=%v of %v: %v or %v\n",
			l.Object.Ref, l.Object.UID, l.Began, l.Gone, l.Policy, l.Orphaned, l.Owners, l.Cause, l.Or)
	}
	return b.String()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// twoDeletes returns a fixed history.
func twoDeletes(t *testing.T) *stage {
	owner := &object.Object{Ref: object.ConfigMap.Ref("n", "owner"), ResourceVersion: "1"}
	owner.UID = "u1"
	kept := &object.Object{Ref: object.Secret.Ref("n", "kept"), ResourceVersion: "1"}
	kept.UID = "u2"
	owned := &object.Object{Ref: object.Pod.Ref("n", "owned"), ResourceVersion: "1"}
	owned.UID, owned.Owners = "u3", []object.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "u1"}}
	s := newStage([]*object.Object{owner, kept, owned})
	for _, ref := range []object.Ref{owner.Ref, kept.Ref} {
		must(t, s.Delete(context.Background(), ref, metav1.DeleteOptions{}))
		must(t, engine.Drain(context.Background(), s.collector, s, engine.Follow{}))
	}
	s.Events()
	return s
}
