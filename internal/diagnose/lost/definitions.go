package lost

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// definition is what became of a CRD that was deleted.
type definition struct {
	// last is what it said last: what it says now, or will say once it is back.
	last *object.CRDFacts
	// served says that the server serves what it defined.
	served bool
	// unread is why the server does not show what it had, even where it is back; empty if it does.
	unread reason.Code
	// lacks is the version for whose lack that is so.
	lacks string
}

// definitions are what is known of all CRDs of an account, by name.
type definitions struct {
	resources *object.Resources
	// deleted is what each said last before it was deleted, standing what it says if it is there
	// again, and there whether it is.
	deleted, standing map[string]*object.CRDFacts
	there             map[string]bool
}

func definitionsOf(a *history.Account) *definitions {
	d := &definitions{a.Past.Resources, map[string]*object.CRDFacts{}, map[string]*object.CRDFacts{}, map[string]bool{}}
	for i := range a.Losses {
		if o := a.Losses[i].Object; o.Definition() != nil {
			d.deleted[o.Name] = o.Definition()
		}
	}
	for i := range a.Past.Changes {
		c := &a.Past.Changes[i]
		if !c.Object.Is(object.CRD) {
			continue
		}
		d.there[c.Object.Name] = c.Type != object.Deleted
		if crd := c.Object.Definition(); c.Type != object.Deleted && crd != nil {
			d.standing[c.Object.Name] = crd
		} else {
			delete(d.standing, c.Object.Name)
		}
	}
	return d
}

// of is what became of the CRD of a loss.
func (d *definitions) of(l *history.Loss) definition {
	was, name := l.Object.Definition(), l.Object.Name
	last := cmp.Or(d.standing[name], d.deleted[name], was)
	versions := was.Versions // it was made again behind the end of the past, if it is served
	if d.there[name] {
		versions = last.Versions
	}
	served := d.resources == nil || slices.ContainsFunc(versions, func(v object.CRDVersion) bool {
		_, err := d.resources.For(was.Group+"/"+v.Name, last.Kind)
		return err == nil
	})
	why, lacks := unreadable(was, last)
	return definition{last, served, why, lacks}
}

// unreadable is why the server does not show what was stored of one CRD by another one of its
// name: it refuses to convert what it does not know, and looks elsewhere for it.
//
// Upstream: apiextensions-apiserver/pkg/apiserver/conversion/converter.go crConverter.ConvertToVersion.
func unreadable(was, now *object.CRDFacts) (why reason.Code, lacks string) {
	switch {
	case was.Kind != now.Kind:
		return reason.CRDKindChanged, ""
	case was.Namespaced != now.Namespaced:
		return reason.CRDScopeChanged, ""
	}
	for _, v := range was.Versions {
		if v.Storage && !slices.ContainsFunc(now.Versions, func(x object.CRDVersion) bool { return x.Name == v.Name }) {
			return reason.CRDVersionGone, v.Name
		}
	}
	return "", ""
}

// version is one that serves what a CRD had, as it was named then if that is served.
func (d *definition) version(was *object.CRDFacts) (name string, served bool) {
	for _, v := range slices.Concat(was.Versions, d.last.Versions) {
		if v.Served && slices.ContainsFunc(d.last.Versions, func(x object.CRDVersion) bool { return x.Name == v.Name && x.Served }) {
			return v.Name, true
		}
	}
	return "", false
}

// Definitions are those of the losses that are CRDs: those whose objects the server does not
// show while they are gone, each once, and those that are there again, or come with another one
// of their name.
func Definitions(a *history.Account, which []int) (gone, back, others []int) {
	last := map[string]int{}
	for _, i := range which {
		if l := &a.Losses[i]; l.Object.Is(object.CRD) {
			last[l.Object.Name] = i
		}
	}
	crds := definitionsOf(a)
	for _, i := range which {
		l := &a.Losses[i]
		switch {
		case l.Object.Definition() == nil || l.Gone == 0:
			others = append(others, i)
		case last[l.Object.Name] != i || crds.of(l).served:
			back = append(back, i)
		default:
			gone = append(gone, i)
		}
	}
	return gone, back, others
}

// Instances are the collections that went with CRDs, as they were before that, the latest first:
// in the namespace that is asked about, or in all. Whoever asks for an object does not ask for
// all of its kind.
func Instances(a *history.Account, crds []int, q Question) []history.Collection {
	picked, now := pick(a, q), definitionsOf(a)
	var all []history.Collection
	for _, i := range slices.Backward(slices.Sorted(slices.Values(crds))) {
		l := &a.Losses[i]
		crd, d := l.Object.Definition(), now.of(l)
		version, served := d.version(crd)
		if d.unread != "" || !served || q.Objects != nil && !picked[i] {
			continue
		}
		of := history.Collection{APIVersion: crd.Group + "/" + version, Kind: crd.Kind, Revision: max(a.Began(l)-1, a.Past.From.Revision)}
		if crd.Namespaced {
			of.Namespace = q.Namespace
		}
		all = append(all, of)
	}
	return all
}
