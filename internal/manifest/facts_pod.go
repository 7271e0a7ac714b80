package manifest

import "github.com/kubectl-gc/kubectl-gc/internal/object"

var podFacts = &factKind{
	kind: object.Pod,
	fields: []factField{
		{path: "spec.volumes", keep: &keep{each: keepFields(map[string]*keep{
			"persistentVolumeClaim": keepFields(nil, "claimName"),
			"ephemeral":             keepFields(nil),
		}, "name")}, read: (*lexer).podVolumes},
		// A spec with containers is complete.
		{path: "spec.containers", keep: keepEntries, read: func(l *lexer, it *item, _ string, _ bool) error {
			it.facts.pod.VolumesKnown = true
			return l.skip()
		}},
		sharedText("spec.nodeName", func(f *facts) *string { return &f.pod.NodeName }),
		{path: "spec.terminationGracePeriodSeconds", keep: keepValue, read: func(l *lexer, it *item, path string, _ bool) error {
			grace, ok, err := l.integer(path)
			if ok {
				it.facts.pod.TerminationGracePeriod = l.rd.in.Number(grace)
			}
			return err
		}},
		sharedText("status.phase", func(f *facts) *string { return &f.pod.Phase }),
	},
	alike: func(f *facts) []byte {
		key := f.pod.AppendKey(f.key[:0])
		if key != nil {
			f.key = key
		}
		return key
	},
	facts: func(f *facts, o *object.Object) object.Facts { return f.pod.Of(o.Name) },
}

// podVolumes reads the claims that the volumes of a pod use.
func (l *lexer) podVolumes(it *item, path string, flat bool) error {
	it.facts.pod.VolumesKnown = true
	return l.entries(path, func() error {
		if err := l.charge(entryBytes); err != nil {
			return err
		}
		return l.podVolume(it, flat)
	})
}

// podVolume reads one volume. The claim of an ephemeral one has the volume's name until the pod's
// name is prepended.
func (l *lexer) podVolume(it *item, flat bool) error {
	var name, claim span
	ephemeral := false
	seen := [3]bool{}
	once := func(i int) error {
		if seen[i] {
			return l.wrong("an entry of spec.volumes has %s twice", l.key)
		}
		seen[i] = true
		return nil
	}
	in, err := l.object("an entry of spec.volumes")
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		if flat {
			lowerFirst(l.key)
		}
		switch string(l.key) {
		case "name":
			if err = once(0); err == nil {
				err = l.string(it, &name, "spec.volumes.name")
			}
		case "persistentVolumeClaim":
			if err = once(1); err == nil {
				claim, err = l.named(it, "claimName", "spec.volumes.persistentVolumeClaim", flat)
			}
		case "ephemeral":
			if err = once(2); err == nil {
				ephemeral = l.token() != 'n'
				err = l.skip()
			}
		default:
			err = l.skip()
		}
	}
	if text := it.bytes(claim); len(text) > 0 {
		it.facts.pod.Claims = append(it.facts.pod.Claims, object.Claim{Name: string(text)})
	}
	if ephemeral {
		it.facts.pod.Claims = append(it.facts.pod.Claims, object.Claim{Name: string(it.bytes(name)), Ephemeral: true})
	}
	return err
}

// named reads the string under key in a mapping.
func (l *lexer) named(it *item, key, name string, flat bool) (text span, err error) {
	found := false
	in, err := l.object(name)
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		if flat {
			lowerFirst(l.key)
		}
		switch {
		case string(l.key) != key:
			err = l.skip()
		case found:
			return text, l.wrong("%s has %s twice", name, key)
		default:
			found = true
			err = l.string(it, &text, name+"."+key)
		}
	}
	return text, err
}
