package manifest

import (
	"maps"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// keep selects the parts of a YAML document that are passed to the JSON reader.
type keep struct {
	// fields are the kept keys of a mapping; any applies to every other key.
	fields map[string]*keep
	any    *keep
	// each applies to the entries of a list.
	each *keep
	// loose drops keys that are no strings. Otherwise they are a Problem.
	loose bool
}

// below returns the keep for a key; nil if it is dropped.
func (k *keep) below(key []byte) *keep {
	if b, ok := k.fields[string(key)]; ok {
		return b
	}
	return k.any
}

var (
	keepValue   = &keep{}
	keepStrings = &keep{each: keepValue}
)

func keepFields(fields map[string]*keep, names ...string) *keep {
	if fields == nil {
		fields = map[string]*keep{}
	}
	for _, name := range names {
		fields[name] = keepValue
	}
	return &keep{fields: fields}
}

// keepMetadata is what is kept of metadata.
var keepMetadata = keepFields(map[string]*keep{
	"labels":     {any: keepValue},
	"finalizers": keepStrings,
	"annotations": keepFields(nil, mirrorAnnotation, object.ProtectAnnotation, object.ResourcePolicyAnnotation,
		object.RevisionAnnotation, object.ProvisionerAnnotation, object.MigratedToAnnotation,
		object.AccountNameAnnotation, object.AccountUIDAnnotation),
	"ownerReferences": {each: keepFields(nil,
		"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")},
}, "name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
	"deletionTimestamp", "deletionGracePeriodSeconds", "continue")

// keepEntries keeps empty entries.
var keepEntries = &keep{each: keepFields(nil)}

// keepSpec, keepStatus and keepBeside are what is kept for any kind in factKinds.
var (
	keepSpec   = keepSection(func(k *factKind) *section { return &k.spec })
	keepStatus = keepSection(func(k *factKind) *section { return &k.status })
	keepBeside = keepSection(func(k *factKind) *section { return &k.beside })
)

// keepObject is what is kept of an object or list.
var keepObject = withItems(keepFields(withBeside(map[string]*keep{
	"metadata": keepMetadata, "spec": keepSpec, "status": keepStatus,
}), "apiVersion", "kind", "type", "lastTimestamp", "eventTime"))

// withBeside adds the fields outside of spec and status.
func withBeside(fields map[string]*keep) map[string]*keep {
	maps.Copy(fields, keepBeside.fields)
	return fields
}

// keepItems is what is kept of the items of a list.
var keepItems = keepObject.fields["items"]

func withItems(k *keep) *keep {
	k.fields["items"] = &keep{each: k}
	return k
}
