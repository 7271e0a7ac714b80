package manifest

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// keep says what of a YAML document goes on to the reader of JSON.
type keep struct {
	// fields are the keys of a mapping that are kept; any keeps every other key.
	fields map[string]*keep
	any    *keep
	// each is what is kept of each entry of a list.
	each *keep
	// loose leaves out keys that are no text; else they are a Problem.
	loose bool
}

// below is what is kept under key; nil for nothing.
func (k *keep) below(key string) *keep {
	if b, ok := k.fields[key]; ok {
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

// keepEntries keeps that there are entries, and nothing of them.
var keepEntries = &keep{each: keepFields(nil)}

// keepVolumes is what is kept of the volumes of a pod.
var keepVolumes = &keep{each: keepFields(map[string]*keep{
	"persistentVolumeClaim": keepFields(nil, "claimName"),
	"ephemeral":             keepFields(nil),
}, "name")}

// keepReservations is what is kept of the users of a ResourceClaim.
var keepReservations = &keep{each: keepFields(nil, "apiGroup", "resource", "name", "uid")}

// keepParent is what is kept of what an IPAddress goes with.
var keepParent = keepFields(nil, "group", "resource", "namespace", "name")

// keepClaimRef and keepCSI know the names of Go fields, too.
var (
	keepClaimRef = keepFields(nil, "namespace", "name", "uid", "uID")
	keepCSI      = keepFields(nil)
)

// keepTemplates is what is kept of the claims that a StatefulSet makes.
var keepTemplates = &keep{each: keepFields(map[string]*keep{"metadata": keepFields(nil, "name")})}

// keepSpec and keepStatus are what is kept for any of the kinds that matter.
var keepSpec = keepFields(map[string]*keep{
	"finalizers": keepStrings,
	"names": keepFields(map[string]*keep{
		"shortNames": keepStrings, "categories": keepStrings,
	}, "kind", "plural", "singular"),
	"versions":   {each: keepFields(nil, "name", "served", "storage")},
	"volumes":    keepVolumes,
	"containers": keepEntries,
	"claimRef":   keepClaimRef,
	"csi":        keepCSI,
	"cSI":        keepCSI,
	"cidrs":      keepStrings,
	"parentRef":  keepParent,

	"volumeClaimTemplates": keepTemplates,
}, "nodeName", "terminationGracePeriodSeconds", "group", "scope", "version", "managedBy", "persistentVolumeReclaimPolicy")

var keepStatus = keepFields(map[string]*keep{
	"conditions":     {each: keepFields(nil, "type", "status")},
	"reservedFor":    keepReservations,
	"storedVersions": keepStrings,
}, "phase")

// keepObject is what is kept of an object or list.
var keepObject = withItems(keepFields(map[string]*keep{
	"metadata": keepMetadata, "spec": keepSpec, "status": keepStatus,
}, "apiVersion", "kind", "type"))

// keepItems is what is kept of the items of a list.
var keepItems = keepObject.fields["items"]

func withItems(k *keep) *keep {
	k.fields["items"] = &keep{each: k}
	return k
}

// specOf and statusOf are what is kept of spec and status once the kind is seen.
var (
	specOf = [...]*keep{
		kindUnseen: keepSpec,
		kindPod: keepFields(map[string]*keep{"volumes": keepVolumes, "containers": keepEntries},
			"nodeName", "terminationGracePeriodSeconds"),
		kindNamespace:  keepFields(map[string]*keep{"finalizers": keepStrings}),
		kindDefinition: keepSpec,
		kindJob:        keepFields(nil, "managedBy"),
		kindVolume: keepFields(map[string]*keep{"claimRef": keepClaimRef, "csi": keepFields(nil)},
			"persistentVolumeReclaimPolicy"),
		kindClaim: keepFields(nil),
		kindCIDR:  keepFields(map[string]*keep{"cidrs": keepStrings}),
		kindIP:    keepFields(map[string]*keep{"parentRef": keepParent}),
		kindSet:   keepFields(map[string]*keep{"volumeClaimTemplates": keepTemplates}),
		kindOther: nil,
	}
	statusOf = [...]*keep{
		kindUnseen:     keepStatus,
		kindPod:        keepFields(nil, "phase"),
		kindNamespace:  keepFields(nil, "phase"),
		kindDefinition: keepStatus,
		kindJob:        keepFields(map[string]*keep{"conditions": keepStatus.fields["conditions"]}),
		kindVolume:     keepFields(nil, "phase"),
		kindClaim:      keepFields(map[string]*keep{"reservedFor": keepReservations}),
		kindCIDR:       keepFields(nil),
		kindIP:         keepFields(nil),
		kindSet:        keepFields(nil),
		kindOther:      nil,
	}
)
