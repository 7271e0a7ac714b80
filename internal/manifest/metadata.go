package manifest

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// mirrorAnnotation marks the mirror pod of a static pod.
//
// Upstream: api/core/v1/annotation_key_constants.go MirrorPodAnnotationKey.
const mirrorAnnotation = "kubernetes.io/config.mirror"

// metadata reads an ObjectMeta or ListMeta.
func (l *lexer) metadata(it *item) error {
	if err := l.once(it, hasMetadata, "metadata"); err != nil {
		return err
	}
	return l.members("metadata", false, func() error { return l.metadataField(it, string(l.key)) })
}

// metadataField reads the field of metadata with the given key.
func (l *lexer) metadataField(it *item, key string) error {
	switch key {
	case "name":
		return l.metadataString(it, hasName, &it.name, "metadata.name")
	case "namespace":
		return l.metadataString(it, hasNamespace, &it.namespace, "metadata.namespace")
	case "uid":
		return l.metadataString(it, hasUID, &it.uid, "metadata.uid")
	case "resourceVersion":
		return l.metadataString(it, hasVersion, &it.version, "metadata.resourceVersion")
	case "continue":
		return l.metadataString(it, hasContinue, &it.more, "metadata.continue")
	case "creationTimestamp":
		return l.time(it, hasCreated, &it.created, "metadata.creationTimestamp")
	case "deletionTimestamp":
		return l.time(it, hasDeleted, &it.deleted, "metadata.deletionTimestamp")
	case "generation":
		if err := l.once(it, hasGeneration, "metadata.generation"); err != nil {
			return err
		}
		var err error
		it.generation, _, err = l.integer("metadata.generation")
		return err
	case "deletionGracePeriodSeconds":
		if err := l.once(it, hasGrace, "metadata.deletionGracePeriodSeconds"); err != nil {
			return err
		}
		grace, ok, err := l.integer("metadata.deletionGracePeriodSeconds")
		if it.grace = grace; ok {
			it.seen |= hasGraceValue
		}
		return err
	case "finalizers":
		return l.finalizers(it)
	case "labels":
		return l.labels(it)
	case "ownerReferences":
		return l.owners(it)
	case "annotations":
		return l.annotations(it)
	}
	return l.skip()
}

func (l *lexer) metadataString(it *item, f field, to *span, name string) error {
	if err := l.once(it, f, name); err != nil {
		return err
	}
	return l.string(it, to, name)
}

// time reads an RFC 3339 time as seconds since 1970; null is 0.
func (l *lexer) time(it *item, f field, to *int64, name string) error {
	if err := l.once(it, f, name); err != nil {
		return err
	}
	if null, err := l.null(); null || err != nil {
		return err
	}
	var at span
	if err := l.string(it, &at, name); err != nil {
		return err
	}
	text := it.bytes(at)
	var t time.Time
	if t.UnmarshalText(text) != nil {
		return l.wrong("%s %q is not a time of the form 2006-01-02T15:04:05Z", name, text[:min(len(text), 60)])
	}
	if *to = t.Unix(); *to == 0 {
		return l.wrong("%s is the very start of 1970, which means no time at all", name)
	}
	return nil
}

func (l *lexer) finalizers(it *item) error {
	if err := l.once(it, hasFinalizers, "metadata.finalizers"); err != nil {
		return err
	}
	return l.elements("metadata.finalizers", func() error {
		if l.token() != '"' {
			return l.mistyped("an entry of metadata.finalizers", "a string")
		}
		var s span
		err := l.charge(entryBytes)
		if err == nil {
			err = l.string(it, &s, "")
		}
		it.finalizers = append(it.finalizers, s)
		return err
	})
}

func (l *lexer) labels(it *item) error {
	if err := l.once(it, hasLabels, "metadata.labels"); err != nil {
		return err
	}
	err := l.members("metadata.labels", false, func() error {
		from := len(it.text)
		it.text = append(it.text, l.key...)
		label := labelSpans{key: span{from, len(it.text)}}
		err := l.charge(len(l.key) + entryBytes)
		if err == nil {
			err = l.string(it, &label.value, "a value of metadata.labels")
		}
		it.labels = append(it.labels, label)
		return err
	})
	if err != nil {
		return err
	}
	if twice := it.sortLabels(); twice != nil {
		return l.wrong("metadata.labels has %q twice", twice)
	}
	return nil
}

func (l *lexer) annotations(it *item) error {
	if err := l.once(it, hasAnnotations, "metadata.annotations"); err != nil {
		return err
	}
	return l.members("metadata.annotations", false, func() (err error) {
		switch string(l.key) {
		case mirrorAnnotation:
			if err := l.once(it, hasMirror, "metadata.annotations["+mirrorAnnotation+"]"); err != nil {
				return err
			}
			err = l.skip()
		case object.ProvisionerAnnotation:
			err = l.fact(it, hasProvisioner, &it.facts.volume.Provisioner, "metadata.annotations["+object.ProvisionerAnnotation+"]")
		case object.MigratedToAnnotation:
			err = l.fact(it, hasMigratedTo, &it.facts.volume.MigratedTo, "metadata.annotations["+object.MigratedToAnnotation+"]")
		case object.AccountNameAnnotation:
			err = l.metadataString(it, hasAccount, &it.account, "metadata.annotations["+object.AccountNameAnnotation+"]")
		case object.AccountUIDAnnotation:
			err = l.metadataString(it, hasAccountUID, &it.accountUID, "metadata.annotations["+object.AccountUIDAnnotation+"]")
		case object.TrackerAnnotation:
			err = l.metadataString(it, hasTracker, &it.tracker, "metadata.annotations["+object.TrackerAnnotation+"]")
		case object.ApprovalAnnotation:
			err = l.metadataString(it, hasApproval, &it.approval, "metadata.annotations["+object.ApprovalAnnotation+"]")
		case object.WaveAnnotation:
			err = l.metadataString(it, hasWave, &it.wave, "metadata.annotations["+object.WaveAnnotation+"]")
		case object.WeightAnnotation:
			err = l.metadataString(it, hasWeight, &it.weight, "metadata.annotations["+object.WeightAnnotation+"]")
		case object.RevisionAnnotation:
			var value span
			err = l.metadataString(it, hasRevision, &value, "metadata.annotations["+object.RevisionAnnotation+"]")
			it.revision = object.RevisionBy(string(it.bytes(value)))
		default:
			if f, ok := protectionKeys[string(l.key)]; ok {
				return l.protection(it, f, string(l.key))
			}
			if isOutsideAnnotation(l.key) {
				return l.outsideAnnotation(it)
			}
			err = l.skip()
		}
		return err
	})
}

// protectionKeys are the annotations that may protect an object.
var protectionKeys = allProtectionKeys()

func allProtectionKeys() map[string]field {
	keys := map[string]field{
		object.ProtectAnnotation: hasProtect, object.ResourcePolicyAnnotation: hasResourcePolicy, object.SyncOptionsAnnotation: hasSyncOptions,
		object.FluxPruneKey: hasFluxPrune, object.FluxReconcileKey: hasFluxReconcile, object.FluxApplyKey: hasFluxApply,
	}
	for i, key := range object.FinalizerAnnotations() {
		keys[key] = hasFinalizerAnnotation << i
	}
	return keys
}

// protection reads an annotation that may protect the object.
func (l *lexer) protection(it *item, f field, key string) error {
	var value span
	if err := l.metadataString(it, f, &value, "metadata.annotations["+key+"]"); err != nil {
		return err
	}
	it.protection |= object.ProtectionBy(key, string(it.bytes(value)))
	return nil
}

func (l *lexer) owners(it *item) error {
	if err := l.once(it, hasOwners, "metadata.ownerReferences"); err != nil {
		return err
	}
	return l.entries("metadata.ownerReferences", func() error {
		var owner ownerSpans
		err := l.charge(2 * entryBytes)
		if err == nil {
			err = l.owner(it, &owner)
		}
		it.owners = append(it.owners, owner)
		return err
	})
}

// owner reads one owner reference.
func (l *lexer) owner(it *item, owner *ownerSpans) error {
	const (
		apiVersion = 1 << iota
		kind
		name
		uid
		controller
		block
	)
	seen := 0
	return l.members("an owner reference", false, func() error {
		this, field := 0, ""
		var text *span
		var flag *object.Flag
		switch string(l.key) {
		case "apiVersion":
			this, field, text = apiVersion, "an owner reference's apiVersion", &owner.apiVersion
		case "kind":
			this, field, text = kind, "an owner reference's kind", &owner.kind
		case "name":
			this, field, text = name, "an owner reference's name", &owner.name
		case "uid":
			this, field, text = uid, "an owner reference's uid", &owner.uid
		case "controller":
			this, field, flag = controller, "an owner reference's controller", &owner.controller
		case "blockOwnerDeletion":
			this, field, flag = block, "an owner reference's blockOwnerDeletion", &owner.block
		}
		if seen&this != 0 {
			return l.wrong("an owner reference has %s twice", l.key)
		}
		seen |= this
		switch {
		case text != nil:
			return l.string(it, text, field)
		case flag != nil:
			value, ok, err := l.boolean(field)
			if ok {
				*flag = object.FlagOf(&value)
			}
			return err
		}
		return l.skip()
	})
}
