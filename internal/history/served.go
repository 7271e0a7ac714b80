package history

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// servedIn returns the resources that were served at some time: the present ones, and those of CRDs
// that have changed since.
func servedIn(p *Past, changes []Change) *object.Resources {
	rs := &object.Resources{}
	if p.Resources != nil {
		rs = p.Resources.Clone()
	}
	for i := range changes {
		for _, o := range []*object.Object{changes[i].Old, changes[i].Object} {
			if o != nil {
				AddDefined(rs, o)
			}
		}
	}
	return rs
}

// AddDefined adds the missing resources of a CRD.
func AddDefined(rs *object.Resources, o *object.Object) {
	facts := o.Definition()
	if facts == nil || !o.Is(object.CRD) {
		return
	}
	for _, v := range facts.Versions {
		r := object.Resource{
			Group: facts.Group, Version: v.Name, Name: facts.Plural, Kind: facts.Kind, Singular: facts.Singular,
			ShortNames: facts.ShortNames, Categories: facts.Categories,
			Namespaced: facts.Namespaced, Custom: true, Verbs: object.AllVerbs,
		}
		if have, err := rs.For(r.APIVersion(), r.Kind); v.Served && (err != nil || !have.Served()) {
			rs.Add(r)
		}
	}
}
