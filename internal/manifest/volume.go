package manifest

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// podVolumes reads which claims the volumes of a pod use.
func (l *lexer) podVolumes(it *item, flat bool) error {
	if err := l.once(it, hasVolumes, "spec.volumes"); err != nil {
		return err
	}
	it.facts.pod.VolumesKnown = true
	in, err := l.array("spec.volumes")
	for first := true; in && err == nil; first = false {
		if in, err = l.element(first); !in || err != nil {
			break
		}
		if l.token() != '{' {
			return l.mistyped("an entry of spec.volumes", "a mapping")
		}
		if err = l.charge(entryBytes); err == nil {
			err = l.podVolume(it, flat)
		}
	}
	return err
}

// podVolume reads one volume. The claim of an ephemeral one has the name of the
// volume until the name of the pod is put in front of it.
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

// named reads the string under key of a mapping.
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

// claimsOf are the claims of the pod: those of ephemeral volumes are named after
// it.
//
// Upstream: component-helpers/storage/ephemeral/ephemeral.go VolumeClaimName.
func (f *facts) claimsOf(pod string) []object.Claim {
	for i := range f.pod.Claims {
		if c := &f.pod.Claims[i]; c.Ephemeral {
			c.Name = pod + "-" + c.Name
		}
	}
	return f.pod.Claims
}

// jobSpecField reads a field of the spec of a Job.
func (l *lexer) jobSpecField(it *item) error {
	if string(l.key) != "managedBy" {
		return l.skip()
	}
	return l.fact(it, hasManagedBy, &it.facts.job.ManagedBy, "spec.managedBy")
}

// volumeSpecField reads a field of the spec of a PersistentVolume.
func (l *lexer) volumeSpecField(it *item, flat bool) error {
	v := &it.facts.volume
	switch string(l.key) {
	case "claimRef":
		if err := l.once(it, hasClaimRef, "spec.claimRef"); err != nil {
			return err
		}
		return l.claimRef(v, flat)
	case "persistentVolumeReclaimPolicy":
		return l.fact(it, hasReclaimPolicy, &v.ReclaimPolicy, "spec.persistentVolumeReclaimPolicy")
	case "csi", "cSI":
		if err := l.once(it, hasCSI, "spec.csi"); err != nil {
			return err
		}
		v.CSI = l.token() != 'n'
	}
	return l.skip()
}

// claimRef reads which claim a volume belongs to.
func (l *lexer) claimRef(v *object.PVFacts, flat bool) error {
	in, err := l.object("spec.claimRef")
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

// own reads a string that no other object has.
func (l *lexer) own(to *string, name string) error {
	if *to != "" {
		return l.wrong("%s is there twice", name)
	}
	text, err := l.text(nil, name)
	*to = string(text)
	return err
}
