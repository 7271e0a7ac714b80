package object

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// PodFacts are what the deletion of a pod depends on (spec §2.9).
type PodFacts struct {
	// NodeName is empty for a pod that is not scheduled.
	NodeName string
	Phase    string
	// TerminationGracePeriod is the spec's, in seconds; nil when absent.
	TerminationGracePeriod *int64
	// Mirror marks the mirror pod of a static pod.
	Mirror bool
	// VolumesKnown tells that the dump showed the volumes, so that Claims are all
	// there are, and a pod without NodeName is not scheduled.
	VolumesKnown bool
	// Claims are the PersistentVolumeClaims that the volumes use, in their order.
	Claims []Claim
}

// Claim is a PersistentVolumeClaim in the namespace of a pod that a volume of the
// pod uses.
type Claim struct {
	Name string
	// Ephemeral marks the claim that is made for a generic ephemeral volume, and
	// named `<pod>-<volume>`. It is the pod's only if the pod controls it.
	Ephemeral bool
}

// Finished tells whether the pod has run to its end.
func (p *PodFacts) Finished() bool { return p.Phase == "Succeeded" || p.Phase == "Failed" }

// NamespaceFacts are what the deletion of a namespace depends on.
type NamespaceFacts struct {
	Phase string
	// Finalizers are spec.finalizers, not metadata.finalizers.
	Finalizers []string
}

// CRDFacts are what a CustomResourceDefinition says of its instances.
type CRDFacts struct {
	Group      string
	Kind       string
	Plural     string
	Singular   string
	ShortNames []string
	Categories []string
	Namespaced bool
	Versions   []CRDVersion
	// Stored are status.storedVersions: in each of them something may be stored.
	Stored []string
	// Established and Terminating are conditions of the status.
	Established bool
	Terminating bool
}

// CRDVersion is one entry of a CustomResourceDefinition's spec.versions.
type CRDVersion struct {
	Name    string
	Served  bool
	Storage bool
}

// JobFacts are what keeps the tracking finalizer on the pods of a Job
// (spec §7.1).
type JobFacts struct {
	// Finished tells that the Job has the condition Complete or Failed.
	Finished bool
	// ManagedBy is spec.managedBy; empty for the Job controller.
	ManagedBy string
}

// BuiltInManager is the name of the Job controller in spec.managedBy.
//
// Upstream: api/batch/v1/types.go JobControllerName.
const BuiltInManager = "kubernetes.io/job-controller"

// Elsewhere tells whether another controller than the one of Kubernetes manages
// the Job.
func (j *JobFacts) Elsewhere() bool { return j.ManagedBy != "" && j.ManagedBy != BuiltInManager }

// PVFacts are what the deletion of a PersistentVolume depends on
// (spec §7.1).
type PVFacts struct {
	// Phase is empty when the dump does not show it.
	Phase string
	// ClaimNamespace, ClaimName and ClaimUID are spec.claimRef; empty without one.
	ClaimNamespace string
	ClaimName      string
	ClaimUID       types.UID
	// ReclaimPolicy is the spec's; empty when the dump does not show it.
	ReclaimPolicy string
	// Provisioner is who has made the storage, MigratedTo the driver that has taken
	// it over: both are annotations, and empty without.
	Provisioner string
	MigratedTo  string
	// CSI tells that a CSI driver serves the volume.
	CSI bool
}

// The annotations that say who deletes the storage behind a PersistentVolume.
//
// Upstream: component-helpers/storage/volume/pv_helpers.go AnnDynamicallyProvisioned,
// AnnMigratedTo.
const (
	ProvisionerAnnotation = "pv.kubernetes.io/provisioned-by"
	MigratedToAnnotation  = "pv.kubernetes.io/migrated-to"
)

// Seldom holds the facts of kinds of which there are few, so that they cost the
// others nothing.
type Seldom struct {
	ResourceClaim *ResourceClaimFacts
	ServiceCIDR   *ServiceCIDRFacts
	IPAddress     *IPAddressFacts
	Token         *Token
	StatefulSet   *StatefulSetFacts
}

// ResourceClaimFacts are what the deletion of a ResourceClaim depends on
// (spec §7.1).
type ResourceClaimFacts struct {
	// Reserved are status.reservedFor: who uses the claim.
	Reserved []Reservation
}

// Reservation is one user of a ResourceClaim, in its namespace.
type Reservation struct {
	Group    string
	Resource string
	Name     string
	UID      types.UID
}

// ServiceCIDRFacts are what the deletion of a ServiceCIDR depends on (spec §7.1).
type ServiceCIDRFacts struct {
	// CIDRs are spec.cidrs as they are written.
	CIDRs []string
}

// IPAddressFacts are with what an IPAddress goes: spec.parentRef.
type IPAddressFacts struct {
	Group     string
	Resource  string
	Namespace string
	Name      string
}

// StatefulSetFacts are what a StatefulSet leaves behind.
type StatefulSetFacts struct {
	// ClaimTemplates are the names of spec.volumeClaimTemplates.
	ClaimTemplates []string
}

// Made tells whether a claim of this name is one that the StatefulSet of that name has
// made for one of its pods, whatever their number is by now.
//
// Upstream: pkg/controller/statefulset/stateful_set_utils.go getPersistentVolumeClaimName.
func (s *StatefulSetFacts) Made(set, claim string) bool {
	return slices.ContainsFunc(s.ClaimTemplates, func(template string) bool {
		ordinal, ok := strings.CutPrefix(claim, template+"-"+set+"-")
		return ok && ordinal != "" && strings.Trim(ordinal, "0123456789") == ""
	})
}

// TokenType is the type of the Secrets that are tokens of ServiceAccounts.
//
// Upstream: api/core/v1/types.go SecretTypeServiceAccountToken.
const TokenType = "kubernetes.io/service-account-token"

// The annotations by which a token says whose it is.
//
// Upstream: api/core/v1/types.go ServiceAccountNameKey, ServiceAccountUIDKey.
const (
	AccountNameAnnotation = "kubernetes.io/service-account.name"
	AccountUIDAnnotation  = "kubernetes.io/service-account.uid"
)

// Token is whose token a Secret is, if it is one: the ServiceAccount of that name in the
// namespace of the Secret. (spec §7.1, S246)
type Token struct {
	// Account is the name of the ServiceAccount, never empty.
	Account string
	// AccountUID is empty for a Secret that fits any account of the name.
	AccountUID types.UID
	// Sure tells that the type was seen, and is TokenType. Where only metadata was seen,
	// the Secret may be one of another type, which stays.
	Sure bool
}

// TokenBy is what the annotations and the type of a Secret say; nil for one that is no
// token. An empty type is one that was not seen.
func TokenBy(account string, uid types.UID, secretType string) *Token {
	if account == "" || secretType != "" && secretType != TokenType {
		return nil
	}
	return &Token{Account: account, AccountUID: uid, Sure: secretType == TokenType}
}

// Of tells whether the token is one of a ServiceAccount, by its name and uid.
//
// Upstream: apiserver/pkg/authentication/serviceaccount/util.go IsServiceAccountToken.
func (t *Token) Of(account string, uid types.UID) bool {
	return t.Account == account && (t.AccountUID == "" || t.AccountUID == uid)
}

func equalSeldom(a, b *Seldom) bool {
	if a == nil || b == nil {
		return a == b
	}
	if (a.ResourceClaim == nil) != (b.ResourceClaim == nil) || (a.ServiceCIDR == nil) != (b.ServiceCIDR == nil) ||
		(a.StatefulSet == nil) != (b.StatefulSet == nil) {
		return false
	}
	return (a.ResourceClaim == nil || slices.Equal(a.ResourceClaim.Reserved, b.ResourceClaim.Reserved)) &&
		(a.StatefulSet == nil || slices.Equal(a.StatefulSet.ClaimTemplates, b.StatefulSet.ClaimTemplates)) &&
		(a.ServiceCIDR == nil || slices.Equal(a.ServiceCIDR.CIDRs, b.ServiceCIDR.CIDRs)) &&
		equalPointees(a.IPAddress, b.IPAddress) && equalPointees(a.Token, b.Token)
}

// Bound tells whether the volume belongs to a claim.
func (v *PVFacts) Bound() bool { return v.Phase == "Bound" }

func equalPods(a, b *PodFacts) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.NodeName == b.NodeName && a.Phase == b.Phase && a.Mirror == b.Mirror &&
		a.VolumesKnown == b.VolumesKnown && slices.Equal(a.Claims, b.Claims) &&
		equalPointees(a.TerminationGracePeriod, b.TerminationGracePeriod)
}

func equalNamespaces(a, b *NamespaceFacts) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Phase == b.Phase && slices.Equal(a.Finalizers, b.Finalizers)
}

func equalDefinitions(a, b *CRDFacts) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Group == b.Group && a.Kind == b.Kind && a.Plural == b.Plural && a.Singular == b.Singular &&
		a.Namespaced == b.Namespaced && a.Established == b.Established && a.Terminating == b.Terminating &&
		slices.Equal(a.ShortNames, b.ShortNames) && slices.Equal(a.Categories, b.Categories) &&
		slices.Equal(a.Versions, b.Versions) && slices.Equal(a.Stored, b.Stored)
}
