package manifest

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

var pvFacts = &factKind{
	kind: object.PV,
	fields: []factField{
		{path: "spec.claimRef", keep: keepFields(nil, "namespace", "name", "uid", "uID"), read: (*lexer).claimRef},
		sharedText("spec.persistentVolumeReclaimPolicy", func(f *facts) *string { return &f.volume.ReclaimPolicy }),
		{path: "spec.csi", flat: "cSI", keep: keepFields(nil), read: func(l *lexer, it *item, _ string, _ bool) error {
			it.facts.volume.CSI = l.token() != 'n'
			return l.skip()
		}},
		sharedText("status.phase", func(f *facts) *string { return &f.volume.Phase }),
	},
	facts: func(f *facts, _ *object.Object) object.Facts { return new(f.volume) },
}

// claimRef reads the claim of a volume.
func (l *lexer) claimRef(it *item, path string, flat bool) error {
	v := &it.facts.volume
	in, err := l.object(path)
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		if flat {
			lowerFirst(l.key)
		}
		switch string(l.key) {
		case "namespace":
			err = l.repeated(&v.ClaimNamespace, "spec.claimRef.namespace")
		case "name":
			err = l.own(&v.ClaimName, "spec.claimRef.name")
		case "uid", "uID":
			uid := string(v.ClaimUID)
			err = l.own(&uid, "spec.claimRef.uid")
			v.ClaimUID = types.UID(uid)
		default:
			err = l.skip()
		}
	}
	return err
}

var statefulSetFacts = &factKind{
	kind: object.StatefulSet,
	fields: []factField{
		{path: "spec.volumeClaimTemplates", keep: &keep{each: keepFields(map[string]*keep{"metadata": keepFields(nil, "name")})},
			read: (*lexer).claimTemplates},
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified {
			return nil
		}
		return new(f.set)
	},
}

func (l *lexer) claimTemplates(it *item, path string, flat bool) error {
	return l.entries(path, func() error { return l.claimTemplate(it, flat) })
}

// claimTemplate reads the name of one template.
func (l *lexer) claimTemplate(it *item, flat bool) error {
	const template = "an entry of spec.volumeClaimTemplates"
	var name span
	found := false
	in, err := l.object(template)
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		if flat {
			lowerFirst(l.key)
		}
		switch {
		case string(l.key) != "metadata":
			err = l.skip()
		case found:
			return l.wrong("%s has metadata twice", template)
		default:
			found = true
			name, err = l.named(it, "name", template+".metadata", flat)
		}
	}
	if text := it.bytes(name); len(text) > 0 {
		it.facts.set.ClaimTemplates = append(it.facts.set.ClaimTemplates, l.rd.in.Bytes(text))
	}
	return err
}
