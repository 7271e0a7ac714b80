package narrow

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Explanation is why an explanation from the part may not be that from the whole; empty
// if it is. The dependents that it lists are those of the namespace, which are all
// there are.
func (p *Part) Explanation(e *report.Explanation) string {
	switch {
	case p.lacking != "":
		return p.lacking
	case e.Verdict == report.Undecidable:
		return fmt.Sprintf("what becomes of %s is not known", object.Ref(e.Object))
	}
	if why := p.connected(object.Ref(e.Object)); why != "" {
		return why
	}
	if space := p.snap.Find("v1", "Namespace", "", p.namespace); space != nil && space.BeingDeleted() {
		return fmt.Sprintf("%s is being deleted", space.Ref)
	}
	if why := p.foreground(e); why != "" {
		return why
	}
	for _, o := range p.around(p.watched[e.Object.UID]) {
		if why := p.dangles(o); why != "" {
			return why
		}
		if v := o.Volume(); v != nil && v.ClaimName != "" && v.ClaimNamespace != p.namespace {
			return fmt.Sprintf("%s belongs to a claim in namespace %s", o.Ref, v.ClaimNamespace)
		}
	}
	return chosen(e.Gaps)
}

// foreground is why a delete in the foreground was tried, of an owner or its owner: of
// one that a delete in the background does not take the object with. It may wait for
// whatever has its uid.
func (p *Part) foreground(e *report.Explanation) string {
	taken := map[types.UID]bool{e.Object.UID: true}
	for _, t := range e.TakenBy {
		taken[t.Object.UID] = t.Policy == "Background"
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

// Owners is why a graph of objects of the part and their owners may not be the one of
// the whole; empty if it is.
func (p *Part) Owners(g *report.Graph) string {
	if why := p.doubtful(); why != "" {
		return why
	}
	for i := range g.Nodes {
		o := p.watched[g.Nodes[i].Ref.UID]
		if o == nil {
			return fmt.Sprintf("%s was not seen", object.Ref(g.Nodes[i].Ref))
		}
		if why := p.dangles(o); why != "" {
			return why
		}
	}
	return ""
}
