package manifest

import "github.com/kubectl-gc/kubectl-gc/internal/object"

var accountFacts = &factKind{
	kind: object.ServiceAccount,
	fields: []factField{
		{path: "secrets", keep: &keep{each: keepFields(nil, "name")}, read: (*lexer).accountSecrets},
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if len(f.account.Secrets) == 0 {
			return nil // the same as without secrets in a list of metadata
		}
		return new(f.account)
	},
}

// accountSecrets reads the names of the Secrets that a ServiceAccount refers to.
func (l *lexer) accountSecrets(it *item, path string, flat bool) error {
	return l.entries(path, func() error {
		if err := l.charge(entryBytes); err != nil {
			return err
		}
		name, err := l.named(it, "name", "an entry of "+path, flat)
		if text := it.bytes(name); err == nil && len(text) > 0 {
			it.facts.account.Secrets = append(it.facts.account.Secrets, string(text))
		}
		return err
	})
}
