package manifest

import "github.com/kubectl-gc/kubectl-gc/internal/object"

var accountFacts = &factKind{
	kind: object.ServiceAccount,
	fields: []factField{
		{path: "secrets", keep: &keep{each: keepFields(nil, "name")}, read: (*lexer).accountSecrets},
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if len(f.account.Secrets) == 0 {
			return nil // which a list of metadata says as well
		}
		return new(f.account)
	},
}

// accountSecrets reads the names of the Secrets that a ServiceAccount refers to.
func (l *lexer) accountSecrets(it *item, path string, flat bool) error {
	in, err := l.array(path)
	for first := true; in && err == nil; first = false {
		if in, err = l.element(first); !in || err != nil {
			break
		}
		if l.token() != '{' {
			return l.mistyped("an entry of "+path, "a mapping")
		}
		var name span
		if err = l.charge(entryBytes); err == nil {
			name, err = l.named(it, "name", "an entry of "+path, flat)
		}
		if text := it.bytes(name); err == nil && len(text) > 0 {
			it.facts.account.Secrets = append(it.facts.account.Secrets, string(text))
		}
	}
	return err
}
