package manifest

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// crdFacts covers apiextensions.k8s.io/v1 and v1beta1.
var crdFacts = &factKind{
	kind: object.CRD,
	fields: []factField{
		sharedText("spec.group", func(f *facts) *string { return &f.definition.Group }),
		{path: "spec.scope", keep: keepValue, read: (*lexer).definitionScope},
		{path: "spec.names", keep: keepFields(map[string]*keep{
			"shortNames": keepStrings, "categories": keepStrings,
		}, "kind", "plural", "singular"), read: (*lexer).definitionNames},
		sharedText("spec.version", func(f *facts) *string { return &f.oldVersion }),
		{path: "spec.versions", keep: &keep{each: keepFields(nil, "name", "served", "storage")}, read: (*lexer).definitionVersions},
		conditions,
		texts("status.storedVersions", func(f *facts) *[]string { return &f.definition.Stored }),
	},
	facts: (*facts).defined,
}

func (l *lexer) definitionScope(it *item, path string, _ bool) error {
	var scope string
	err := l.shared(it, &scope, path)
	it.facts.definition.Namespaced, it.facts.scoped = scope == "Namespaced", true
	if err == nil && scope != "Namespaced" && scope != "Cluster" {
		return l.wrong("%s is %q; it must be Namespaced or Cluster", path, scope)
	}
	return err
}

func (l *lexer) definitionNames(it *item, path string, _ bool) error {
	d := &it.facts.definition
	in, err := l.object(path)
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		switch string(l.key) {
		case "kind":
			err = l.repeated(&d.Kind, "spec.names.kind")
		case "plural":
			err = l.repeated(&d.Plural, "spec.names.plural")
		case "singular":
			err = l.repeated(&d.Singular, "spec.names.singular")
		case "shortNames":
			d.ShortNames, err = l.strings("spec.names.shortNames")
		case "categories":
			d.Categories, err = l.strings("spec.names.categories")
		default:
			err = l.skip()
		}
	}
	return err
}

func (l *lexer) definitionVersions(it *item, path string, _ bool) error {
	d := &it.facts.definition
	return l.entries(path, func() error {
		if err := l.charge(entryBytes); err != nil {
			return err
		}
		var v object.CRDVersion
		err := l.definitionVersion(&v)
		d.Versions = append(d.Versions, v)
		return err
	})
}

func (l *lexer) definitionVersion(v *object.CRDVersion) error {
	in, err := l.object("an entry of spec.versions")
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		switch string(l.key) {
		case "name":
			err = l.repeated(&v.Name, "spec.versions.name")
		case "served":
			v.Served, _, err = l.boolean("spec.versions.served")
		case "storage":
			v.Storage, _, err = l.boolean("spec.versions.storage")
		default:
			err = l.skip()
		}
	}
	return err
}

// defined unifies the forms of the two API versions: v1beta1 may have a single spec.version instead
// of spec.versions. It returns nil if the dump lacks the fields that identify the instances: they
// are then unknown. A definition without conditions counts as established, because its instances
// must not be overlooked. One that is being deleted counts as terminating: a condition that wasn't
// dumped may be set.
func (f *facts) defined(o *object.Object) object.Facts {
	d := f.definition
	d.Established = d.Established || !f.conditioned
	d.Terminating = d.Terminating || !f.conditioned && o.BeingDeleted()
	if d.Group == "" || d.Kind == "" || d.Plural == "" || !f.scoped {
		return nil
	}
	if len(d.Versions) == 0 && f.oldVersion != "" {
		d.Versions = []object.CRDVersion{{Name: f.oldVersion, Served: true, Storage: true}}
	}
	return &d
}
