package lost

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// definition is the current state of a CRD that was deleted.
type definition struct {
	// last is its last known content: the current one, or the one that it will have once it is back.
	last *object.CRDFacts
	// served: the server serves the kind that the CRD defined.
	served bool
	// unread is why the server does not show the CRD's former objects, even if the CRD is back; empty
	// if it does.
	unread reason.Code
	// lacks is the missing version that causes this.
	lacks string
}

// definitions has the state of all CRDs of an account, by name.
type definitions struct {
	resources *object.Resources
	// deleted has the last content of each CRD before it was deleted. standing has the content of
	// those that exist again. there reports whether a CRD exists.
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

// of returns the current state of the CRD of a loss.
func (d *definitions) of(l *history.Loss) definition {
	was, name := l.Object.Definition(), l.Object.Name
	last := cmp.Or(d.standing[name], d.deleted[name], was)
	versions := was.Versions // if it is served, it was created again after the end of the past
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

// unreadable returns why the server does not show objects of a CRD through a later one of the same
// name. The server refuses to convert a version that it does not know, and looks elsewhere for
// another kind or scope.
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

// version returns a version that serves the former objects of a CRD. It prefers a version of that
// CRD.
func (d *definition) version(was *object.CRDFacts) (name string, served bool) {
	for _, v := range slices.Concat(was.Versions, d.last.Versions) {
		if v.Served && slices.ContainsFunc(d.last.Versions, func(x object.CRDVersion) bool { return x.Name == v.Name && x.Served }) {
			return v.Name, true
		}
	}
	return "", false
}

// Definitions sorts the losses that are CRDs. gone has those that make their objects unreadable while
// they are gone, one per name. back has those that exist again, or come back with another one of the
// same name. others has the rest.
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

// Instances returns the collections that were deleted with CRDs, as they were just before, the latest
// first. They are limited to the namespace of the question. A question about one instance does not
// include all of its kind.
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
