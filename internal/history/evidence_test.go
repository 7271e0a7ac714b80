package history_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
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
		change history.Change
		want   string
	}{
		"its own":  {history.Change{Revision: 2, Type: object.Modified, Object: stopping(30), Old: running("n1")}, with + ", is being deleted\n"},
		"another":  {history.Change{Revision: 2, Type: object.Modified, Object: stopping(1), Old: running("n1")}, somebody + ", is being deleted\n"},
		"none":     {history.Change{Revision: 2, Type: object.Deleted, Object: running("n1")}, somebody + "\n"},
		"no node":  {history.Change{Revision: 2, Type: object.Deleted, Object: running("")}, with + "\n"},
		"finished": {history.Change{Revision: 2, Type: object.Deleted, Object: finished()}, with + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &history.Past{Resources: scenario.Resources(), Standing: []*object.Object{node()}, Changes: []history.Change{
				{Revision: 1, Type: object.Modified, Object: going, Old: there}, x.change,
			}}
			if got := tell(history.Trace(p)); got != x.want {
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
			p := &history.Past{Resources: scenario.Resources(), Standing: []*object.Object{there, node()}, Changes: []history.Change{
				{Revision: 1, Type: object.Added, Object: running("")},
				{Revision: 2, Type: object.Deleted, Object: finished(), Old: old},
			}}
			if got := tell(history.Trace(p)); got != want {
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
	asked := history.Change{Revision: 300, Type: object.Modified, Object: stopping(30), Old: running("n1")}
	for name, x := range map[string]struct {
		minor int
		then  []history.Change
		want  string
	}{"not known": {0, []history.Change{asked}, somebody}, "new": {33, []history.Change{asked}, somebody}, "old": {32, []history.Change{asked}, with}, "refused": {36, nil, refused}} {
		t.Run(name, func(t *testing.T) {
			p := &history.Past{Resources: scenario.Resources(), Minor: x.minor, Standing: []*object.Object{node(), running("n1")}, Changes: append([]history.Change{
				{Revision: 1, Type: object.Modified, Object: going, Old: there},
				{Revision: 200, Type: object.Deleted, Object: note},
			}, x.then...)}
			if got := tell(history.Trace(p)); got != x.want {
				t.Errorf("got %s, want %s", got, x.want)
			}
		})
	}
}
