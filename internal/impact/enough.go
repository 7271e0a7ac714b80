package impact

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// OneNamespace is a snapshot of one namespace and of the cluster-scoped objects.
type OneNamespace struct {
	snap      *snapshot.Snapshot
	namespace string
	// watched has the objects that the collector watches, by uid. It knows others only from
	// references.
	watched map[types.UID]*object.Object
	// lacking is why the part is not enough for any simulation; empty if it may be enough.
	lacking string
}

// InNamespace returns snap as a snapshot of one namespace.
func InNamespace(snap *snapshot.Snapshot, namespace string) *OneNamespace {
	p := &OneNamespace{snap: snap, namespace: namespace, watched: make(map[types.UID]*object.Object, len(snap.Objects))}
	for _, o := range snap.Objects {
		if r, err := snap.Resources.For(o.APIVersion, o.Kind); err == nil && snap.Resources.Monitored(r) {
			p.watched[o.UID] = o
		}
		if p.lacking == "" {
			p.lacking = far(o)
		}
	}
	if why := p.doubtful(); why != "" {
		p.lacking = why
	}
	return p
}

// far returns why the deletion of an object depends on objects that may be anywhere; empty if it does
// not.
func far(o *object.Object) string {
	switch {
	case o.HasFinalizer(object.Foreground):
		return fmt.Sprintf("%s waits for its dependents, and whatever has its uid is waited for", o.Ref)
	case o.HasFinalizer(object.Orphan):
		return fmt.Sprintf("%s releases its dependents, and whatever has its uid is released", o.Ref)
	case o.Is(object.CRD) && o.BeingDeleted():
		return fmt.Sprintf("%s is being deleted, with its objects in all namespaces", o.Ref)
	}
	return ""
}

// doubtful returns why the identities of the part are unreliable; empty if they are not.
func (p *OneNamespace) doubtful() string {
	i := slices.IndexFunc(p.snap.Problems, func(problem snapshot.Problem) bool {
		return problem.Kind == snapshot.DuplicateUID || problem.Kind == snapshot.NoUID
	})
	if i < 0 {
		return ""
	}
	return p.snap.Problems[i].Message
}

// Plan returns why a plan of the part may differ from that of the whole cluster; empty if all effects
// of the delete are the same. Effects that would happen anyway elsewhere are ignored.
func (p *OneNamespace) Plan(plan *report.Plan) string {
	switch {
	case plan.Seed.Verb != "delete" || plan.Seed.Policy != "Background":
		return "dependents are waited for or released, and whatever has the uid of their owner counts as one"
	case plan.Exploration != nil && plan.Exploration.Requested:
		return "other orders of all events are asked for"
	case p.lacking != "":
		return p.lacking
	}
	for _, t := range plan.Seed.Targets {
		if why := p.connected(object.Ref(t)); why != "" {
			return why
		}
		for _, o := range p.around(p.watched[t.UID]) {
			if why := p.dangles(o); why != "" {
				return why
			}
		}
	}
	judged := make(map[types.UID]bool, len(plan.Effects))
	for i := range plan.Effects {
		e := &plan.Effects[i]
		judged[e.Object.UID] = true
		switch {
		case e.Object.Namespace != p.namespace:
			return fmt.Sprintf("%s is concerned, and may have dependents in every namespace", object.Ref(e.Object))
		case e.Outcome == report.Unknown:
			return fmt.Sprintf("what becomes of %s is not known", object.Ref(e.Object))
		case e.Outcome == report.Blocked && !e.AlreadyHappening:
			return fmt.Sprintf("%s stays, and whatever has its uid with it", object.Ref(e.Object))
		}
		if e.AlreadyHappening {
			continue
		}
		if why := p.connected(object.Ref(e.Object)); why != "" {
			return why
		}
	}
	if why := p.undecided(judged); why != "" {
		return why
	}
	return chosen(plan.Gaps)
}

// undecided returns why the outcome of an object is unknown, with or without the delete: its owners
// are unknown, and it was not found to be garbage. It is empty if there is no such object.
func (p *OneNamespace) undecided(judged map[types.UID]bool) string {
	for _, o := range p.snap.Objects {
		if p.watched[o.UID] == nil || judged[o.UID] {
			continue
		}
		if why := p.dangles(o); why != "" {
			return why
		}
	}
	return ""
}

// connected returns why an object may be connected with others that the part lacks.
func (p *OneNamespace) connected(ref object.Ref) string {
	o := p.watched[ref.UID]
	if o == nil || o.Namespace != p.namespace {
		return fmt.Sprintf("%s is not in namespace %s, or no collector watches it", ref, p.namespace)
	}
	return p.dangles(o)
}

// dangles returns why an owner of an object is not in the part: it is gone, the reference is wrong,
// or no collector watches it. Only the whole cluster shows which, and whether the owner waits for the
// object.
func (p *OneNamespace) dangles(o *object.Object) string {
	for _, ref := range o.Owners {
		owner := p.watched[ref.UID]
		if owner == nil || owner.Name != ref.Name || !strings.EqualFold(owner.Kind, ref.Kind) ||
			owner.Group() != object.GroupOf(ref.APIVersion) || owner.Namespace != "" && owner.Namespace != o.Namespace {
			return fmt.Sprintf("%s refers to %s %s, which was not seen", o.Ref, ref.Kind, ref.Name)
		}
	}
	return ""
}

// around returns o and all objects connected with it, with or without references.
func (p *OneNamespace) around(o *object.Object) []*object.Object {
	dependents := map[types.UID][]*object.Object{}
	for _, d := range p.snap.Objects {
		for _, ref := range d.Owners {
			dependents[ref.UID] = append(dependents[ref.UID], d)
		}
	}
	met := map[*object.Object]bool{o: true}
	open := []*object.Object{o}
	for i := 0; i < len(open); i++ {
		near := append(p.beside(open[i]), dependents[open[i].UID]...)
		for _, ref := range open[i].Owners {
			if owner := p.watched[ref.UID]; owner != nil {
				near = append(near, owner)
			}
		}
		for _, n := range near {
			if !met[n] {
				met[n] = true
				open = append(open, n)
			}
		}
	}
	return open
}

// chosen returns why gaps that were left by choice matter.
func chosen(gaps []report.Gap) string {
	if slices.ContainsFunc(gaps, leftOut) {
		return "dependents may be in other namespaces"
	}
	return ""
}
