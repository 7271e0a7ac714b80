package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/uses"
)

// conventions adds what uses the objects that go by their names or labels:
//
//	secret/cacerts -n istio-system   goes: deploy/istiod signs with another root certificate after its next start
//
// If a kind of users was not read, the namespace of the object is told in their place.
func (b *breakages) conventions() {
	for kind := range b.goes {
		if uses.FoundByConvention(kind) {
			for _, e := range b.goes.of(kind) {
				b.conventionsOf(e.Object.Coordinates())
			}
		}
	}
}

// conventionsOf adds what uses one object that goes.
func (b *breakages) conventionsOf(at object.Coordinates) {
	target, certainty, ok := b.lost(at)
	o := b.snap.ObjectAt(at)
	if !ok || o == nil {
		return
	}
	if certainty == report.Sure {
		certainty = report.Possible
	}
	for _, c := range uses.ConventionsOf(o) {
		field, label := c.Field()
		one := report.Breakage{Field: field, Label: label, Reference: target, When: c.When, Certainty: certainty, Message: c.Effect}
		users := b.snap.All(c.User.GroupResource())
		if name := c.UserName(o); name != "" {
			users = nil
			if user := b.snap.FindKind(c.User, o.Namespace, name); user != nil {
				users = append(users, user)
			}
		}
		for _, user := range users {
			if c.Uses(user, o) {
				one.Object = user.Ref
				b.add(one)
			}
		}
		known := c.UserName(o) != "" && len(users) > 0 // it is the only one
		if outside := c.User.Kind == ""; outside || !known && b.unreadUsers(c.User) {
			if !outside {
				one.Certainty = report.Undecided
			}
			one.Object = object.Namespace.Ref("", o.Namespace)
			if ns := b.snap.FindKind(object.Namespace, "", o.Namespace); ns != nil {
				one.Object = ns.Ref
			}
			b.addNamespace(one)
		}
	}
}

// unreadUsers reports whether the snapshot may lack objects of a kind.
func (b *breakages) unreadUsers(kind object.Kind) bool {
	r, served := b.snap.Resources.Preferred(kind.GroupResource())
	if !served {
		return !b.snap.KnowsAllKinds()
	}
	return !b.snap.Covers(r, "")
}

// addNamespace adds a breakage of a namespace, which the snapshot may lack.
func (b *breakages) addNamespace(one report.Breakage) {
	if b.snap.ObjectAt(one.Object.Coordinates()) != nil {
		b.add(one)
		return
	}
	if key := (breakageKey{one.Object, one.Reference, one.Label}); !b.found[key] && b.goes.at(one.Object.Coordinates()) == nil {
		b.found[key] = true
		b.list = append(b.list, one)
	}
}
