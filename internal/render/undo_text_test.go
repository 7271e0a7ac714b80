package render_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func undone(evil string) *report.Undo {
	web := object.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web" + evil, UID: "1"}
	set := object.Ref{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: "shop", Name: "web-1", UID: "2"}
	gone := object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "gone", UID: "3"}
	return &report.Undo{
		Bundle: "/b" + evil, Journal: "/b/undo/1", State: report.Partial, Message: "not everything was made" + evil,
		Summary: report.UndoSummary{Planned: 2, Made: 1, Failed: 1, Skipped: 1, NotRestored: 1, Dropped: 1},
		Steps: []report.UndoStep{
			{N: 1, Verb: "Create", Object: web, State: report.StepMade, UID: "11", Notes: []report.UndoNote{{Reason: "X", Message: "something to know" + evil}}},
			{N: 2, Verb: "Create", Object: set, State: report.StepRefused, Message: "forbidden" + evil, Changes: []report.UndoChange{{Field: "f" + evil, Message: "m" + evil}}, References: []object.Ref{web},
				Dropped: []report.DroppedReference{{Owner: gone, Reason: "OwnerGone", Message: "the owner is gone" + evil}}},
		},
		Skipped: []report.UndoSkip{{Object: gone, Reason: "NotSaved", Message: "its content was not kept" + evil}},
	}
}

func TestUndoText(t *testing.T) {
	var b strings.Builder
	if err := render.UndoText(&b, render.Style{}, undone("")); err != nil {
		t.Fatal(err)
	}
	want := `Incomplete: 1 of 3 objects was not restored, since its content was not saved.
undo of b: partly done; 1 made, 1 refused, 1 not restored
not everything was made

N   DO       OBJECT       OWNERS       RESULT
1   create   deploy/web                made
2   create   rs/web-1     deploy/web   refused: forbidden

Left unchanged:

OBJECT    WHY
cm/gone   its content was not kept

Owner references that are not restored:

OBJECT     OWNER     WHY
rs/web-1   cm/gone   the owner is gone

deploy/web: something to know.
Journal: /b/undo/1
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.Reset()
	u := undone("")
	u.Steps[1].Changes = []report.UndoChange{{Field: "metadata.ownerReferences", Reason: "OwnerHasNewUID", Message: "the owner has a new uid: deploy/web"}}
	if err := render.UndoText(&b, render.Style{Wide: true}, u); err != nil || !strings.Contains(b.String(), "made with uid 11\n") {
		t.Errorf("wide: %v\n%s", err, b.String())
	}
	const changes = `
Fields that are not written as saved:

N   OBJECT     FIELD                      WHY
2   rs/web-1   metadata.ownerReferences   the owner has a new uid: deploy/web
`
	if !strings.Contains(b.String(), changes) {
		t.Errorf("wide:\n%s", b.String())
	}
}

// TestUndoLater: before a CRD is restored, the text names what can't be restored yet, and what may
// be lost until then.
func TestUndoLater(t *testing.T) {
	crd := object.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "lamps.example.com"}
	u := &report.Undo{
		Lost: &report.Lost{}, Summary: report.UndoSummary{Planned: 1},
		Steps: []report.UndoStep{{N: 1, Verb: "Create", Object: crd, State: report.StepPlanned}},
		Later: &report.LaterUndo{CRDs: []object.Ref{crd}, Then: report.Remedy{Command: "kubectl gc undo --since=5m -A"}},
	}
	for n, want := range map[int]string{
		0: `The API server shows the objects of crd/lamps.example.com once it is back. An interactive run
  continues with them when this is done; otherwise, to bring them back then:
  kubectl gc undo --since=5m -A
Everything else that would be restored is saved: kubectl gc undo 2026
`,
		1: `  kubectl gc undo --since=5m -A
1 object that belongs to them is still there: the garbage collector may delete it before that.
  Everything else that would be restored is saved: kubectl gc undo 2026
`,
		2: `  kubectl gc undo --since=5m -A
2 objects that belong to them are still there: the garbage collector may delete them before that.
  Everything else that would be restored is saved: kubectl gc undo 2026
`,
	} {
		u.Later.Dependents, u.Later.Saved = n, "2026"
		var b strings.Builder
		if err := render.UndoText(&b, render.Style{}, u); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "\n"+want) {
			t.Errorf("%d: want\n%s\ngot\n%s", n, want, b.String())
		}
	}
}

// Names and messages from a server can't control the terminal.
func TestForeignTextOfUndosAndRefusals(t *testing.T) {
	const evil = "\x1b[2J\u202e"
	u := undone(evil)
	p := &report.Plan{
		Finalizers: []report.PlannedFinalizer{{Name: evil, Class: evil, RemovedBy: evil, When: evil, Without: evil}},
		Refusals:   []report.Refusal{{Object: u.Steps[0].Object, Finalizer: evil, Message: evil, LiftedBy: evil}},
	}
	var b strings.Builder
	for _, err := range []error{render.UndoText(&b, render.Style{}, u), render.PlanTable(&b, render.Style{}, p), render.PlanSteps(&b, render.Style{}, p)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if strings.ContainsAny(b.String(), evil[:1]+"\u202e") {
		t.Errorf("%q", b.String())
	}
}

// A text about many objects is printed once, with their number.
func TestUndoTextIsShort(t *testing.T) {
	u := &report.Undo{Bundle: "/b", SameCluster: report.ProofAssumed}
	ref := func(kind, name string) object.Ref {
		return object.Ref{APIVersion: "v1", Kind: kind, Namespace: "shop", Name: name}
	}
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		u.Steps = append(u.Steps, report.UndoStep{N: i + 1, Verb: "Create", Object: ref("Service", name), State: report.StepPlanned,
			Notes: []report.UndoNote{{Reason: "R", Message: "status not restored"}}})
		u.Skipped = append(u.Skipped, report.UndoSkip{Object: ref("Event", name), Message: "a record"})
	}
	u.Skipped = append(u.Skipped, report.UndoSkip{Object: ref("Lease", "l"), Message: "its holder makes it anew"})
	u.Summary = report.UndoSummary{Planned: 5, Skipped: 6}
	var out bytes.Buffer
	if err := render.UndoText(&out, render.Style{}, u); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"event/a and 4 more   a record", "lease/l", "svc/a, svc/b, svc/c and 2 more: status not restored.",
		"Nothing shows that the backup is of this cluster",
	} {
		if strings.Count(out.String(), want) != 1 {
			t.Errorf("%q is not said once:\n%s", want, out.String())
		}
	}
}
