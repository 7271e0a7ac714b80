package impact

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Explanation returns why an explanation from the part may differ from that of the whole cluster;
// empty if it is the same. The dependents that it lists are in the namespace, and there are no
// others.
func (p *OneNamespace) Explanation(e *report.Explanation) string {
	switch {
	case p.lacking != "":
		return p.lacking
	case e.Verdict == report.Undecidable:
		return fmt.Sprintf("what becomes of %s is not known", object.Ref(e.Object))
	}
	if why := p.connected(object.Ref(e.Object)); why != "" {
		return why
	}
	if space := p.snap.FindKind(object.Namespace, "", p.namespace); space != nil && space.BeingDeleted() {
		return fmt.Sprintf("%s is being deleted", space.Ref)
	}
	if why := p.foreground(e); why != "" {
		return why
	}
	if why := p.contained(p.watched[e.Object.UID]); why != "" {
		return why
	}
	for _, o := range p.around(p.watched[e.Object.UID]) {
		if why := p.dangles(o); why != "" {
			return why
		}
		if why := follows(o); why != "" {
			return why
		}
	}
	return chosen(e.Gaps)
}

// Waits returns why the part may show other ends of the explained object's waits than the whole
// cluster; empty if it does not. Only the whole cluster shows which controller removes a finalizer.
// Every link of a chain has to be in the part like the object itself. Ends that are only counted have
// unknown chains.
func (p *OneNamespace) Waits(e *report.Explanation) string {
	for i := range e.WaitsFor {
		f := &e.WaitsFor[i]
		if f.More > 0 {
			return fmt.Sprintf("%s waits for several objects", object.Ref(e.Object))
		}
		for _, l := range f.Chain {
			if l.Namespace == "" {
				continue // all of these are in the part
			}
			if why := p.connected(object.Ref(l.Ref)); why != "" {
				return why
			}
			for _, o := range p.around(p.watched[l.UID]) {
				if why := p.dangles(o); why != "" {
					return why
				}
			}
		}
	}
	return ""
}

// foreground returns why foreground deletes matter: one was tried of an owner, direct or not, that
// does not take the object along in the background. Such an owner may wait for any object with its
// uid in a reference.
func (p *OneNamespace) foreground(e *report.Explanation) string {
	taken := map[types.UID]bool{e.Object.UID: true}
	for _, t := range e.TakenBy {
		taken[t.Object.UID] = t.Policy == "Background" && !t.Unknown && !t.Later
	}
	open := []*object.Object{p.watched[e.Object.UID]}
	met := map[*object.Object]bool{open[0]: true}
	for i := 0; i < len(open); i++ {
		if !taken[open[i].UID] {
			return fmt.Sprintf("a delete of %s was tried in the foreground", open[i].Ref)
		}
		for _, ref := range open[i].Owners {
			if owner := p.watched[ref.UID]; owner != nil && !met[owner] {
				met[owner] = true
				open = append(open, owner)
			}
		}
	}
	return ""
}

// contained returns why the end of a namespace or definition matters, and not only its delete. A
// definition ends when the last of its objects is gone, in whichever namespace.
func (p *OneNamespace) contained(o *object.Object) string {
	groups := map[string]bool{}
	for _, x := range p.around(o) {
		groups[x.Group()] = true
		for _, ref := range x.Owners {
			groups[object.GroupOf(ref.APIVersion)] = true
			if owner := p.watched[ref.UID]; owner != nil && container(owner) {
				return fmt.Sprintf("%s goes with %s, at its end", x.Ref, owner.Ref)
			}
		}
	}
	for _, x := range p.snap.Objects {
		_, group, _ := strings.Cut(x.Name, ".")
		if container(x) && len(x.Owners) > 0 && (x.Name == p.namespace || groups[group]) {
			return fmt.Sprintf("%s has owners, and goes with them", x.Ref)
		}
	}
	return ""
}

func container(o *object.Object) bool {
	return o.Is(object.CRD) || o.Is(object.Namespace)
}
