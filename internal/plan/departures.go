package plan

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// departures are objects of the account that go, by kind. Few kinds are searched by name, and one may have a
// million objects: one map of all coordinates took as long as the rest of the breakages.
type departures map[schema.GroupKind]*departingKind

type departingKind struct {
	// list has the order of the effects.
	list []*report.Effect
	// byName finds them by namespace and name. It is computed on first use.
	byName map[[2]string]*report.Effect
}

// leaving returns the objects of the account that go, without targets that the API server refuses to delete.
// again includes those that come back.
func leaving(p *report.Plan, again bool) departures {
	goes := departures{}
	for e := range p.Account() {
		refused := e.Outcome == report.Kept && e.Reason == string(reason.RequestRefused)
		if e.IsDeleted() && !refused && (again || !comesBack(e)) {
			goes.add(e)
		}
	}
	return goes
}

// recreatedAccounts returns the ServiceAccounts of the account that go and are created again at once.
func recreatedAccounts(p *report.Plan) departures {
	accounts := departures{}
	for e := range p.Account() {
		if e.Object.Is(object.ServiceAccount) && e.Recreator != "" && e.IsDeleted() {
			accounts.add(e)
		}
	}
	return accounts
}

func (d departures) add(e *report.Effect) {
	kind := e.Object.GroupKind()
	k := d[kind]
	if k == nil {
		k = &departingKind{}
		d[kind] = k
	}
	k.list = append(k.list, e)
}

// of returns the objects of a kind.
func (d departures) of(kind schema.GroupKind) []*report.Effect {
	if k := d[kind]; k != nil {
		return k.list
	}
	return nil
}

// at returns the object at the coordinates; nil if it does not go.
func (d departures) at(c object.Coordinates) *report.Effect {
	k := d[c.GroupKind()]
	if k == nil {
		return nil
	}
	if k.byName == nil {
		k.byName = make(map[[2]string]*report.Effect, len(k.list))
		for _, e := range k.list {
			k.byName[[2]string{e.Object.Namespace, e.Object.Name}] = e
		}
	}
	return k.byName[[2]string{c.Namespace, c.Name}]
}

// namespaces returns the namespaces of the objects of a kind; empty for cluster-scoped ones.
func (d departures) namespaces(kind schema.GroupKind) map[string]bool {
	set := map[string]bool{}
	last := ""
	for i, e := range d.of(kind) {
		if namespace := e.Object.Namespace; i == 0 || namespace != last {
			set[namespace], last = true, namespace
		}
	}
	return set
}
