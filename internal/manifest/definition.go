package manifest

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// definitionSpecField reads a field of the spec of a CustomResourceDefinition,
// of apiextensions.k8s.io/v1 or v1beta1.
func (l *lexer) definitionSpecField(it *item) error {
	d := &it.facts.definition
	switch string(l.key) {
	case "group":
		return l.fact(it, hasGroup, &d.Group, "spec.group")
	case "scope":
		var scope string
		err := l.fact(it, hasScope, &scope, "spec.scope")
		d.Namespaced, it.facts.scoped = scope == "Namespaced", true
		if err == nil && !d.Namespaced && scope != "Cluster" {
			return l.wrong("spec.scope is %q; it must be Namespaced or Cluster", scope)
		}
		return err
	case "names":
		if err := l.once(it, hasNames, "spec.names"); err != nil {
			return err
		}
		return l.definitionNames(d)
	case "version":
		var version string
		err := l.fact(it, hasOldVersion, &version, "spec.version")
		it.facts.oldVersion = version
		return err
	case "versions":
		if err := l.once(it, hasVersions, "spec.versions"); err != nil {
			return err
		}
		return l.definitionVersions(d)
	}
	return l.skip()
}

func (l *lexer) definitionNames(d *object.CRDFacts) error {
	in, err := l.object("spec.names")
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

// repeated reads a string and shares it.
func (l *lexer) repeated(to *string, name string) error {
	if *to != "" {
		return l.wrong("%s is there twice", name)
	}
	text, err := l.text(nil, name)
	*to = l.rd.in.Bytes(text)
	return err
}

func (l *lexer) definitionVersions(d *object.CRDFacts) error {
	in, err := l.array("spec.versions")
	for first := true; in && err == nil; first = false {
		if in, err = l.element(first); !in || err != nil {
			break
		}
		if l.token() != '{' {
			return l.mistyped("an entry of spec.versions", "a mapping")
		}
		var v object.CRDVersion
		if err = l.charge(entryBytes); err == nil {
			err = l.definitionVersion(&v)
		}
		d.Versions = append(d.Versions, v)
	}
	return err
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

// conditions reads the two conditions of a CustomResourceDefinition that its
// instances depend on, or those of a Job that say that it has finished.
//
// Upstream: pkg/controller/job/util/utils.go FinishedCondition.
func (l *lexer) conditions(it *item) error {
	if err := l.once(it, hasConditions, "status.conditions"); err != nil {
		return err
	}
	it.facts.conditioned = true
	in, err := l.array("status.conditions")
	for first := true; in && err == nil; first = false {
		if in, err = l.element(first); !in || err != nil {
			break
		}
		if l.token() != '{' {
			return l.mistyped("an entry of status.conditions", "a mapping")
		}
		var kind, status string
		if kind, status, err = l.condition(); err != nil {
			return err
		}
		switch kind {
		case "Established":
			it.facts.definition.Established = status == "True"
		case "Terminating":
			it.facts.definition.Terminating = status == "True"
		case "Complete", "Failed":
			it.facts.job.Finished = it.facts.job.Finished || status == "True"
		}
	}
	return err
}

func (l *lexer) condition() (kind, status string, err error) {
	in, err := l.object("an entry of status.conditions")
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		switch string(l.key) {
		case "type":
			err = l.repeated(&kind, "status.conditions.type")
		case "status":
			err = l.repeated(&status, "status.conditions.status")
		default:
			err = l.skip()
		}
	}
	return kind, status, err
}

// finish puts together what the two API versions say in two ways: v1beta1 may
// have a single spec.version instead of spec.versions. It returns nil when the
// dump has left out what identifies the instances: that is unknown then. A
// definition without conditions counts as established: its instances, if there
// are any, must not be overlooked.
func (f *facts) finish() *object.CRDFacts {
	d := f.definition
	d.Established = d.Established || !f.conditioned
	if d.Group == "" || d.Kind == "" || d.Plural == "" || !f.scoped {
		return nil
	}
	if len(d.Versions) == 0 && f.oldVersion != "" {
		d.Versions = []object.CRDVersion{{Name: f.oldVersion, Served: true, Storage: true}}
	}
	return &d
}
