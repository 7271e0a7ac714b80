package past_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// shop returns a namespace, and the same namespace being deleted.
func shop() (there, going *object.Object) {
	there = &object.Object{Ref: object.Namespace.Ref("", "shop"), Created: 500}
	there.UID = "shop"
	going = there.Clone()
	going.Edit().DeletionTimestamp = 1000
	return there, going
}

// running returns a pod on a node with a grace period of 30 seconds.
func running(node string) *object.Object {
	pod := &object.Object{Ref: object.Pod.Ref("shop", "web")}
	pod.UID = "web"
	pod.Edit().Facts = &object.PodFacts{NodeName: node, Phase: "Running", TerminationGracePeriod: new(int64(30)), VolumesKnown: true}
	return pod
}

// stopping returns a pod that is being deleted with some seconds left.
func stopping(grace int64) *object.Object {
	pod := running("n1").Clone()
	life := pod.Edit()
	life.DeletionTimestamp, life.GracePeriod = 1010+grace, new(grace)
	return pod
}

func node() *object.Object {
	n := &object.Object{Ref: object.Node.Ref("", "n1")}
	n.UID = "n1"
	return n
}

// TestTraceOfAHurriedPod: no controller gives a pod of a namespace that is being deleted another
// grace period than its own.
func TestTraceOfAHurriedPod(t *testing.T) {
	there, going := shop()
	const (
		somebody = "1 Background Namespace/shop took=1\n2 Background Pod/web took=1 maybe\n- Namespace/shop Requested of 1, is being deleted\n- Pod/web Requested of 2 or Evicted"
		with     = "1 Background Namespace/shop took=2\n- Namespace/shop Requested of 1, is being deleted\n- Pod/web NamespaceDeleted(Namespace/shop) of 1"
	)
	for name, x := range map[string]struct {
		change past.Change
		want   string
	}{
		"its own":  {past.Change{Revision: 2, Type: object.Modified, Object: stopping(30), Old: running("n1")}, with + ", is being deleted\n"},
		"another":  {past.Change{Revision: 2, Type: object.Modified, Object: stopping(1), Old: running("n1")}, somebody + ", is being deleted\n"},
		"none":     {past.Change{Revision: 2, Type: object.Deleted, Object: running("n1")}, somebody + "\n"},
		"no node":  {past.Change{Revision: 2, Type: object.Deleted, Object: running("")}, with + "\n"},
		"finished": {past.Change{Revision: 2, Type: object.Deleted, Object: finished()}, with + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &past.Record{Resources: scenario.Resources(), Unchanged: []*object.Object{node()}, Changes: []past.Change{
				{Revision: 1, Type: object.Modified, Object: going, Old: there}, x.change,
			}}
			if got := tell(past.Trace(p)); got != x.want {
				t.Errorf("got %s, want %s", got, x.want)
			}
		})
	}
}

func finished() *object.Object {
	pod := running("n1").Clone()
	facts := *pod.Pod()
	facts.Phase = "Succeeded"
	pod.Edit().Facts = &facts
	return pod
}

// TestTraceByTheLastState: a pod that was created in the history and scheduled since may have been
// evicted from its node. The scheduling is not a change that a history has.
func TestTraceByTheLastState(t *testing.T) {
	there, _ := shop()
	const want = "1 Background Pod/web took=1 maybe\n- Pod/web Requested of 1 or Evicted\n"
	for name, old := range map[string]*object.Object{"known": finished(), "not known": nil} {
		t.Run(name, func(t *testing.T) {
			p := &past.Record{Resources: scenario.Resources(), Unchanged: []*object.Object{there, node()}, Changes: []past.Change{
				{Revision: 1, Type: object.Added, Object: running("")},
				{Revision: 2, Type: object.Deleted, Object: finished(), Old: old},
			}}
			if got := tell(past.Trace(p)); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestTraceBeforeThePodsStop: the namespace controller waits for a pod that it will delete later;
// for none on an old server, and not for one that it cannot delete.
func TestTraceBeforeThePodsStop(t *testing.T) {
	there, going := shop()
	note := &object.Object{Ref: object.ConfigMap.Ref("shop", "note")}
	note.UID = "note"
	const (
		somebody = "1 Background Namespace/shop took=2\n2 Background ConfigMap/note took=1 maybe\n- Namespace/shop Requested of 1, is being deleted\n" +
			"- ConfigMap/note Requested of 2 or NamespaceDeleted(Namespace/shop) of 1\n- Pod/web NamespaceDeleted(Namespace/shop) of 1, is being deleted\n"
		with = "1 Background Namespace/shop took=3\n- Namespace/shop Requested of 1, is being deleted\n" +
			"- ConfigMap/note NamespaceDeleted(Namespace/shop) of 1 or Requested\n- Pod/web NamespaceDeleted(Namespace/shop) of 1, is being deleted\n"
		refused = "1 Background Namespace/shop took=2\n- Namespace/shop Requested of 1, is being deleted\n" +
			"- ConfigMap/note NamespaceDeleted(Namespace/shop) of 1 or Requested\n"
	)
	asked := past.Change{Revision: 300, Type: object.Modified, Object: stopping(30), Old: running("n1")}
	for name, x := range map[string]struct {
		minor int
		then  []past.Change
		want  string
	}{"not known": {0, []past.Change{asked}, somebody}, "new": {33, []past.Change{asked}, somebody}, "old": {32, []past.Change{asked}, with}, "refused": {36, nil, refused}} {
		t.Run(name, func(t *testing.T) {
			p := &past.Record{Resources: scenario.Resources(), Minor: x.minor, Unchanged: []*object.Object{node(), running("n1")}, Changes: append([]past.Change{
				{Revision: 1, Type: object.Modified, Object: going, Old: there},
				{Revision: 200, Type: object.Deleted, Object: note},
			}, x.then...)}
			if got := tell(past.Trace(p)); got != x.want {
				t.Errorf("got %s, want %s", got, x.want)
			}
		})
	}
}

// forget makes the history begin after the first n changes.
func (s *stage) forget(n int) {
	s.Events()
	there := map[object.Ref]*object.Object{}
	for _, o := range s.first {
		there[o.WithoutUID()] = o
	}
	for _, c := range s.changes[:n] {
		s.from = c.Revision
		if c.Type == object.Deleted {
			delete(there, c.Object.WithoutUID())
		} else {
			there[c.Object.WithoutUID()] = c.Object
		}
	}
	s.first = nil
	for _, o := range there {
		s.first = append(s.first, o)
	}
	s.changes = s.changes[n:]
}

// TestTraceInTheDark: whatever is missing from a history, its beginning, surrounding objects, or
// states before a change, no deletion is wrongly called a certain request. The same holds if
// objects share a UID.
func TestTraceInTheDark(t *testing.T) {
	certain, uncertain := 0, 0
	scenario.CheckUntil(t, func() bool { return certain > 0 && uncertain > 0 }, func(t *rapid.T) {
		w := scenario.DrawCluster(t, scenario.Wild)
		deeds := drawDeeds(t, w)
		r := live(t, w, deeds, -1, rapid.Uint64().Draw(t, "schedule"))
		r.stage.Events()
		r.stage.forget(rapid.IntRange(0, len(r.stage.changes)).Draw(t, "forgotten"))
		hidden := rapid.Uint32().Draw(t, "hidden")
		p := r.stage.past(func(r object.Ref) bool { return hidden>>(len(r.Name+r.Kind)%32)&1 == 1 })
		for i := range p.Changes {
			if rapid.IntRange(0, 4).Draw(t, "old known") == 0 {
				p.Changes[i].Old = nil
			}
		}
		twins := map[types.UID]int{}
		for _, o := range w.Objects {
			twins[o.UID]++
		}
		a := past.Trace(p)
		for _, q := range a.Requests {
			for _, i := range q.Losses {
				switch o := a.Losses[i].Object; {
				case !q.Certain:
					uncertain++
				case twins[o.UID] > 1:
				case !r.meant(deeds, o, q.Policy):
					t.Fatalf("%s was never asked for in this way\n\n%s", o.Ref, r.story(w, deeds, a))
				default:
					certain++
				}
			}
		}
		if text := sound(a); text != "" {
			t.Fatalf("%s\n\n%s", text, r.story(w, deeds, a))
		}
		if tell(a) != tell(past.Trace(p)) {
			t.Fatal("two answers to one question")
		}
	})
}

// sound returns the inconsistencies of an account.
func sound(a *past.Account) string {
	took := make([]int, len(a.Requests))
	for i, l := range a.Losses {
		if l.Cause.Code == "" || l.Object == nil {
			return fmt.Sprintf("loss %d has no cause", i)
		}
		if i > 0 && a.Losses[i-1].Began > l.Began {
			return "losses are not in order"
		}
		if k := l.Cause.Request; k >= 0 {
			took[k]++
		}
	}
	for k, q := range a.Requests {
		if took[k] != q.Explains || len(q.Losses) == 0 {
			return fmt.Sprintf("request %d took %d, not %d", k, took[k], q.Explains)
		}
		for _, i := range q.Losses {
			if a.Losses[i].Orphaned {
				return fmt.Sprintf("request %d asked for what stays", k)
			}
		}
	}
	return ""
}
