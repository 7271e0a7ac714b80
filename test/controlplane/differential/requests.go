package differential

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// page is what a collector asked a server to change in one world during a phase.
type page struct {
	// done counts the requests that succeeded, by what they say.
	done map[string]int
	// refused is the number of those that did not.
	refused int
}

func (p *page) note(line string, done bool) {
	switch {
	case !done:
		p.refused++
	case p.done == nil:
		p.done = map[string]int{line: 1}
	default:
		p.done[line]++
	}
}

// text is what was asked for with success, each request once. How often, and in
// which order, is a matter of timing: the collector asks again for what it has not
// seen happen.
func (p *page) text() string {
	var b strings.Builder
	for _, line := range slices.Sorted(maps.Keys(p.done)) {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// repeated is how many requests succeeded that had succeeded before.
func (p *page) repeated() int {
	n := -len(p.done)
	for _, times := range p.done {
		n += times
	}
	return n
}

// book is what a collector asked of a server that holds many worlds, by slot.
type book struct {
	mu    sync.Mutex
	pages map[int]*page
}

// turn begins a phase: all pages are empty.
func (b *book) turn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages = map[int]*page{}
}

// page is what stands in the book of a world.
func (b *book) page(slot int) page {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.pages[slot]
	if !ok {
		return page{}
	}
	return page{done: maps.Clone(p.done), refused: p.refused}
}

// note enters a request under the names that its world was drawn with. Objects of
// no world are those of fences.
func (b *book) note(method string, ref object.Ref, contentType string, body []byte, done bool) {
	slot, ok := slotIn(ref.Name)
	if !ok {
		return
	}
	p := placeOf(slot)
	ref.Name, ref.Namespace = p.cut(ref.Name), p.cut(ref.Namespace)
	line := lineOf(p, method, ref, contentType, body)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pages == nil {
		return
	}
	if b.pages[slot] == nil {
		b.pages[slot] = &page{}
	}
	b.pages[slot].note(line, done)
}

// asSent is a reference as the path of a request says it: by resource, so that the
// kind is spelled as it is served, and nothing of a cluster-scoped kind is in a
// namespace. A collector that follows a reference spells them as the reference does.
func asSent(rs *object.Resources, ref object.Ref) object.Ref {
	r, err := rs.For(ref.APIVersion, ref.Kind)
	if err != nil {
		return ref
	}
	ref.Kind = r.Kind
	if !r.Namespaced {
		ref.Namespace = ""
	}
	return ref
}

// lineOf says what a request says. What no collector is known to send stands there
// as it was sent.
func lineOf(p place, method string, ref object.Ref, contentType string, body []byte) string {
	switch method {
	case http.MethodDelete:
		var o metav1.DeleteOptions
		if len(body) > 0 && json.Unmarshal(body, &o) != nil {
			break
		}
		return deleteLine(p, ref, o)
	case http.MethodPatch:
		patch, err := facade.PatchOf(contentType, body)
		if err != nil || patch.Type == object.JSON {
			break
		}
		return patchLine(p, ref, patch)
	}
	return fmt.Sprintf("%s %s %s %s", method, named(ref), contentType, body)
}

// deleteLine says what a DELETE says: which policy, and on which conditions.
func deleteLine(p place, ref object.Ref, o metav1.DeleteOptions) string {
	line := "DELETE " + named(ref)
	if o.PropagationPolicy != nil {
		line += " policy=" + string(*o.PropagationPolicy)
	}
	if c := o.Preconditions; c != nil && c.UID != nil {
		line += " uid=" + p.cut(string(*c.UID))
	}
	if c := o.Preconditions; c != nil && c.ResourceVersion != nil {
		line += " rv"
	}
	// No collector says more; if one does, it is seen.
	o.TypeMeta, o.PropagationPolicy, o.Preconditions = metav1.TypeMeta{}, nil, nil
	if rest, err := json.Marshal(o); err != nil || string(rest) != "{}" {
		line += " " + string(rest)
	}
	return line
}

// patchLine says what a PATCH says: its conditions, and what becomes of finalizers
// and owner references. In which order references are removed means nothing.
func patchLine(p place, ref object.Ref, patch object.Patch) string {
	var b strings.Builder
	form := "strategic"
	if patch.Type == object.Merge {
		form = "merge"
	}
	b.WriteString("PATCH " + form + " " + named(ref))
	if patch.UID != "" {
		b.WriteString(" uid=" + p.cut(string(patch.UID)))
	}
	if patch.ResourceVersion != "" {
		b.WriteString(" rv")
	}
	if len(patch.DeleteOwners) > 0 {
		gone := make([]string, len(patch.DeleteOwners))
		for i, uid := range patch.DeleteOwners {
			gone[i] = p.cut(string(uid))
		}
		slices.Sort(gone)
		b.WriteString(" without=" + strings.Join(gone, ","))
	}
	if len(patch.MergeOwners) > 0 {
		b.WriteString(" with=" + ownerTexts(p, patch.MergeOwners))
	}
	if patch.Owners != nil {
		b.WriteString(" owners=" + ownerTexts(p, *patch.Owners))
	}
	if patch.Finalizers != nil {
		b.WriteString(" finalizers=" + strings.Join(*patch.Finalizers, ","))
	}
	return b.String()
}

func ownerTexts(p place, owners []object.OwnerReference) string {
	texts := make([]string, len(owners))
	for i, o := range owners {
		o.Name, o.UID = p.cut(o.Name), types.UID(p.cut(string(o.UID)))
		texts[i] = scenario.FormatOwner(o, scenario.Names{})
	}
	return strings.Join(texts, ",")
}

func named(ref object.Ref) string {
	return ref.APIVersion + " " + ref.Kind + " " + strings.TrimPrefix(ref.Namespace+"/"+ref.Name, "/")
}

// difference lays two texts of requests side by side: what both have, and what one
// of them has. It returns the number of lines that only one has.
func difference(real, foreseen string) (string, int) {
	in := map[string]int{}
	for line := range strings.Lines(real) {
		in[line]++
	}
	for line := range strings.Lines(foreseen) {
		in[line] += 2
	}
	var b strings.Builder
	only := 0
	for _, line := range slices.Sorted(maps.Keys(in)) {
		b.WriteString([...]string{1: "real   ", 2: "dry run", 3: "both   "}[in[line]] + " " + line)
		if in[line] < 3 {
			only++
		}
	}
	return b.String(), only
}
