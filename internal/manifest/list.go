package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// listing is the state of reading a list.
type listing struct {
	rd   *reading
	line int
	// depth is the number of lists around it.
	depth int
	// flat is true if the items have the fields of metadata at their top level.
	flat bool
	// known is true if kind and apiVersion are final. Both are empty for a bare array. Writers that
	// sort keys put the items before the kind.
	known            bool
	apiVersion, kind string
	// linked are the apiVersion and kind of the items of a flattened list, by its selfLink.
	linkedAPIVersion, linkedKind string

	count int
	// waiting are items without a kind before the list's kind is known.
	waiting []waiting
}

// waiting is an object that gets its kind from its list.
type waiting struct {
	o     *object.Object
	line  int
	index int
	// text is the text of the whole item, if texts are requested.
	text []byte
	// rest has the kept parts that facts follow from; nil if there are none.
	rest *waitingRest
	// token is the Token if the object is a Secret.
	token *object.Token
}

// waitingRest has the parts of an object that its facts follow from once its kind is known.
type waitingRest struct {
	spec, status, beside    keptText
	seen                    field
	provisioner, migratedTo string
	outside                 []object.FieldValue
}

// wait lets an object wait for the kind of the list.
func (ls *listing) wait(o *object.Object, it *item) {
	w := waiting{o: o, line: it.line, index: ls.count, token: it.token()}
	if it.hasKept() {
		v := &it.facts.volume
		w.rest = &waitingRest{it.spec.copied(), it.status.copied(), it.beside.copied(), it.seen, v.Provisioner, v.MigratedTo, slices.Clone(it.facts.outside)}
	}
	ls.rd.waiting++
	ls.waiting = append(ls.waiting, w)
}

// item returns an item with the kept parts of a waiting object.
func (r *waitingRest) item() item {
	it := item{spec: r.spec, status: r.status, beside: r.beside, seen: r.seen}
	it.facts.volume.Provisioner, it.facts.volume.MigratedTo, it.facts.outside = r.provisioner, r.migratedTo, r.outside
	return it
}

// place names the current item in messages.
func (ls *listing) place(index int) string {
	switch {
	case ls.kind != "":
		return fmt.Sprintf("item %d of %s", index, ls.kind)
	case ls.known:
		return fmt.Sprintf("item %d of an array", index)
	default:
		return fmt.Sprintf("item %d of a list", index)
	}
}

// understand sets the list's apiVersion and kind, as far as it has been read.
func (ls *listing) understand(it *item) {
	ls.apiVersion, ls.kind = string(it.bytes(it.apiVersion)), string(it.bytes(it.kind))
	ls.known = ls.kind != ""
}

// followLink derives the kind of the items of a flattened list from its selfLink, unless the file
// name tells it: the output of kubectl cluster-info dump is one file.
func (ls *listing) followLink(it *item) {
	if o := &ls.rd.o; o.Kind == "" && o.Linked != nil && it.link != (span{}) {
		ls.linkedAPIVersion, ls.linkedKind = o.Linked(string(it.bytes(it.link)))
	}
}

// isListKind reports whether kind is that of a list: List, PodList and so on.
func isListKind(kind []byte) bool { return strings.HasSuffix(string(kind), "List") }

// itemKind returns the apiVersion and kind of the items without their own.
func (ls *listing) itemKind() (apiVersion, kind string) {
	kind = strings.TrimSuffix(ls.kind, "List")
	if kind == "" && ls.linkedKind != "" {
		return ls.linkedAPIVersion, ls.linkedKind
	}
	if kind == "" || kind == partialKind {
		return ls.rd.o.APIVersion, ls.rd.o.Kind
	}
	return ls.apiVersion, kind
}

// items reads the array at the current position.
func (ls *listing) items(l *lexer) error {
	return l.elements("items", func() error { return ls.item(l) })
}

// item reads the item at the current position.
func (ls *listing) item(l *lexer) error {
	ls.count++
	index := ls.count
	if err := ls.rd.value(l, ls); err != nil {
		return within(func() string { return ls.place(index) }, err)
	}
	return nil
}

// end is called after the list was read, when all its fields are known.
func (ls *listing) end(it *item) error {
	if err := ls.checkKind(it); err != nil {
		return err
	}
	ls.known = true
	for i := range ls.waiting {
		w := ls.waiting[i]
		ls.waiting[i] = waiting{} // releases the memory
		if err := ls.release(w); err != nil {
			return within(func() string { return ls.place(w.index) }, err)
		}
	}
	apiVersion, kind := ls.apiVersion, ls.kind
	if kind == "" && ls.linkedKind != "" {
		apiVersion, kind = ls.linkedAPIVersion, ls.linkedKind+"List"
	}
	return ls.rd.handList(List{
		Position: ls.rd.at(ls.line), APIVersion: apiVersion, Kind: kind,
		Items: ls.count, Partial: it.more != span{} && len(it.bytes(it.more)) > 0,
		Continue: string(it.bytes(it.more)), ResourceVersion: string(it.bytes(it.version)),
	})
}

// checkKind returns a Problem for an object with items that is no list.
func (ls *listing) checkKind(it *item) error {
	ls.understand(it)
	switch {
	case ls.flat:
		return nil
	case ls.kind == "":
		if ls.rd.yaml {
			return ls.rd.kindless(ls.line)
		}
		return nil
	case !isListKind(it.bytes(it.kind)):
		return ls.rd.problem(ls.line, fmt.Sprintf("kind %s has items, but is not the kind of a list", ls.kind), nil)
	case len(it.bytes(it.name)) > 0:
		return ls.rd.problem(ls.line, fmt.Sprintf("%s %s has items and a name: it cannot be told whether it is a list or an object", ls.kind, it.bytes(it.name)), nil)
	}
	return nil
}

// release passes on an item that has waited for the kind of its list.
func (ls *listing) release(w waiting) error {
	apiVersion, kind := ls.itemKind()
	o := w.o
	if o.APIVersion == "" {
		o.APIVersion = ls.rd.in.String(apiVersion)
	}
	o.Kind = ls.rd.in.String(kind)
	if err := ls.rd.checkIdentity(o, w.line); err != nil {
		return err
	}
	ls.rd.waiting--
	if kind := factsOf(o.APIVersion, o.Kind); kind != nil && w.rest != nil {
		if err := ls.rd.keptFacts(w.rest.item(), kind, ls.flat, o); err != nil {
			return err
		}
	}
	setToken(o, w.token)
	if err := ls.rd.hand(o, true, w.line); err != nil {
		return err
	}
	if ls.rd.shown == nil || len(w.text) == 0 {
		return ls.rd.giveText(nil)
	}
	return ls.rd.giveText(ls.rd.only(w.text))
}
