package scenario

import (
	"context"
	"fmt"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// showGraph prints every node with its flags and its dependents; ! is a blocking
// reference.
func (m *machine) showGraph(_ context.Context, d *datadriven.TestData) (string, error) {
	if err := readArgs(d).done(); err != nil {
		return "", err
	}
	g := m.collector.Graph()
	var ids []graph.ID
	for id := range g.All {
		ids = append(ids, id)
	}
	g.Sort(ids)
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintln(&b, nodeText(g, id))
	}
	return orNone(b.String()), nil
}

func nodeText(g *graph.Graph, id graph.ID) string {
	text := identityText(g.Identity(id))
	if g.Virtual(id) {
		text += " virtual"
	}
	if g.BeingDeleted(id) {
		text += " deleting"
	}
	if g.WaitingForDependents(id) {
		text += " waiting"
	}
	blocking := map[graph.ID]bool{}
	for _, d := range g.BlockingDependents(id) {
		blocking[d] = true
	}
	words := []string{text}
	for i, d := range g.Dependents(id) {
		if i == 0 {
			words = append(words, "←")
		}
		word := string(g.Identity(d).UID)
		if blocking[d] {
			word += "!"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// showQueue prints what waits for an attempt, the oldest first.
func (m *machine) showQueue(_ context.Context, d *datadriven.TestData) (string, error) {
	return orNone(m.queueText()), readArgs(d).done()
}

func (m *machine) queueText() string {
	text := worksText(m.collector.Queued)
	waiting := len(m.collector.Queued(engine.DeleteWork)) + len(m.collector.Queued(engine.OrphanWork))
	if gone := m.collector.Ready() - waiting; gone > 0 {
		text += fmt.Sprintf("and %d found to be gone\n", gone)
	}
	return text
}

// showDeferred prints what waits to be woken.
func (m *machine) showDeferred(_ context.Context, d *datadriven.TestData) (string, error) {
	return orNone(worksText(m.collector.Deferred)), readArgs(d).done()
}

func worksText(list func(engine.Work) []object.Ref) string {
	var b strings.Builder
	for _, w := range []engine.Work{engine.DeleteWork, engine.OrphanWork} {
		for _, ref := range list(w) {
			fmt.Fprintln(&b, w.String()+" "+identityText(ref))
		}
	}
	return b.String()
}

// showAbsent prints the absent owners that are remembered, the most recent
// first.
func (m *machine) showAbsent(_ context.Context, d *datadriven.TestData) (string, error) {
	var b strings.Builder
	for _, ref := range m.collector.Absent() {
		fmt.Fprintln(&b, identityText(ref))
	}
	return orNone(b.String()), readArgs(d).done()
}

// showRecorded prints the events that the collector has recorded, each with the
// text that upstream gives it. (spec §3.13)
func (m *machine) showRecorded(_ context.Context, d *datadriven.TestData) (string, error) {
	var b strings.Builder
	for _, w := range m.collector.Warnings() {
		fmt.Fprintf(&b, "%s: ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q\n",
			identityText(w.Dependent), w.Owner.APIVersion, w.Owner.Kind, w.Owner.Namespace, w.Owner.Name, w.Owner.UID, w.Dependent.Namespace)
	}
	return orNone(b.String()), readArgs(d).done()
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// identityText is an identity with its UID.
func identityText(ref object.Ref) string { return ref.String() + " uid=" + string(ref.UID) }

// attemptText names an attempt.
func attemptText(a engine.Attempt) string {
	text := a.Work.String() + " " + identityText(a.Ref)
	if a.Virtual {
		text += " virtual"
	}
	return text
}

// outcomeText is an attempt with what its owners count as, the reason of the
// decision, and its disposition.
func outcomeText(out engine.Outcome) string {
	disposition := [...]string{engine.Forget: "forget", engine.Defer: "defer", engine.Vanish: "vanish", engine.Again: "again"}[out.Disposition]
	return attemptText(out.Decision.Attempt) + classesText(out.Decision.Owners) + " " + out.Decision.Reason.String() + ", " + disposition
}

// classesText lists owners by class; classes without owners are left out.
func classesText(owners []engine.OwnerFact) string {
	classes := [...]string{
		engine.Existing: "solid", engine.Dangling: "dangling", engine.Waiting: "waiting", engine.Unresolved: "unresolved",
	}
	var text strings.Builder
	for _, class := range []engine.Class{engine.Existing, engine.Dangling, engine.Waiting, engine.Unresolved} {
		var uids []string
		for _, o := range owners {
			if o.Class == class {
				uids = append(uids, string(o.Reference.UID))
			}
		}
		if len(uids) > 0 {
			fmt.Fprintf(&text, " %s=[%s]", classes[class], strings.Join(uids, ","))
		}
	}
	return text.String()
}

// writeCalls prints requests, those that only read only when asked to.
func writeCalls(b *strings.Builder, calls []call, reads bool) {
	for _, c := range calls {
		if c.write || reads {
			fmt.Fprintln(b, "  "+c.text)
		}
	}
}
