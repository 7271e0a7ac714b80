package manifest

import "github.com/kubectl-gc/kubectl-gc/internal/object"

var serviceCIDRFacts = &factKind{
	kind:   object.ServiceCIDR,
	fields: []factField{texts("spec.cidrs", func(f *facts) *[]string { return &f.cidr.CIDRs })},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified {
			return nil
		}
		return new(f.cidr)
	},
}

var ipAddressFacts = &factKind{
	kind: object.IPAddress,
	fields: []factField{
		{path: "spec.parentRef", keep: keepFields(nil, "group", "resource", "namespace", "name"), read: (*lexer).parentRef},
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified {
			return nil
		}
		return new(f.address)
	},
}

// parentRef reads the object that an IPAddress belongs to.
func (l *lexer) parentRef(it *item, path string, _ bool) error {
	a := &it.facts.address
	in, err := l.object(path)
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		switch string(l.key) {
		case "group":
			err = l.repeated(&a.Group, "spec.parentRef.group")
		case "resource":
			err = l.repeated(&a.Resource, "spec.parentRef.resource")
		case "namespace":
			err = l.repeated(&a.Namespace, "spec.parentRef.namespace")
		case "name":
			err = l.own(&a.Name, "spec.parentRef.name")
		default:
			err = l.skip()
		}
	}
	return err
}
