package report

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Exposure is what the collector of the cluster may do when a version of a custom
// resource stops being served, or when its definition goes.
type Exposure struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Source     Source `json:"source"`
	// Definition is the CustomResourceDefinition.
	Definition Ref             `json:"definition"`
	Version    UnservedVersion `json:"version"`
	// Complete is false when a dependent may be where nobody looked, or when the
	// answer about one depends on something that could not be read.
	Complete bool            `json:"complete"`
	Summary  ExposureSummary `json:"summary"`
	// Conditions are those under which something is lost, in a fixed order.
	Conditions []ExposureCondition `json:"conditions"`
	// Dependents refer to a living owner through the version, and may be lost.
	Dependents []ExposedDependent `json:"dependents"`
	// Consequences are objects that go, or lose a reference, because a dependent does.
	Consequences []ExposureConsequence `json:"consequences"`
	// Owners are the living owners that dependents name through the version.
	Owners []ExposedOwner `json:"owners"`
	// Safe are the other dependents of the kind.
	Safe  []SafeDependent `json:"safe"`
	Notes []ExposureNote  `json:"notes"`
	// Patches migrate the references to another version. They are only there when
	// they were asked for; nothing sends them.
	Patches []ReferencePatch `json:"patches,omitempty"`
	Gaps    []Gap            `json:"gaps"`
}

// UnservedVersion is the version in question, or with an empty Name all of them.
type UnservedVersion struct {
	// Name is the version; empty when the whole definition goes.
	Name string `json:"name,omitempty"`
	// Group, Resource and OwnerKind say what the references name.
	Group     string `json:"group"`
	Resource  string `json:"resource"`
	OwnerKind string `json:"ownerKind"`
	Served    bool   `json:"served"`
	// Preferred: the collector watches the kind in this version.
	Preferred bool `json:"preferred,omitempty"`
	// Storage: new writes are stored in this version. Stored: it is among
	// status.storedVersions.
	Storage bool `json:"storage,omitempty"`
	Stored  bool `json:"stored,omitempty"`
	// Remaining are the versions that are served without it, the best one first.
	Remaining []string `json:"remaining,omitempty"`
	// Target is the apiVersion to migrate references to; empty when there is none.
	Target string `json:"target,omitempty"`
}

// ExposureSummary counts the exposed dependents by what becomes of them when the
// collector looks at them, and the rest.
type ExposureSummary struct {
	Exposed      int `json:"exposed"`
	Deleted      int `json:"deleted"`
	Blocked      int `json:"blocked"`
	Pruned       int `json:"pruned"`
	Unknown      int `json:"unknown"`
	Consequences int `json:"consequences"`
	Safe         int `json:"safe"`
}

// ExposureCondition is one thing that has to happen, and how many it concerns.
type ExposureCondition struct {
	// Condition is a CamelCase word of docs/reasons.md.
	Condition string `json:"condition"`
	Objects   int    `json:"objects"`
	Message   string `json:"message"`
}

// ExposedDependent is one object that may be lost.
type ExposedDependent struct {
	Object Ref `json:"object"`
	// References are those through the version.
	References []Ref `json:"references"`
	// Outcome is what becomes of it when the collector looks at it while the version
	// still maps and is not served any more; Reason is that of a plan.
	Outcome   Outcome    `json:"outcome"`
	Reason    string     `json:"reason"`
	BlockedBy *BlockedBy `json:"blockedBy,omitempty"`
	// KeptBy are its other owners that exist and are not named through the version.
	KeptBy []Ref `json:"keptBy,omitempty"`
	// When lists the conditions, each with what it leads to.
	When    []Exposed `json:"when"`
	Message string    `json:"message"`
}

// Exposed is what one condition leads to for one object.
type Exposed struct {
	Condition string  `json:"condition"`
	Outcome   Outcome `json:"outcome"`
	// Because are the objects to which it has to happen.
	Because []Ref `json:"because,omitempty"`
}

// ExposureConsequence is what becomes of an object because a dependent is lost.
type ExposureConsequence struct {
	Object  Ref     `json:"object"`
	Outcome Outcome `json:"outcome"`
	// Condition is LookedAt when it follows from the collector's look alone, and
	// InTheEnd when other owners or finalizers have to go as well.
	Condition string `json:"condition"`
	// InTheEnd is what becomes of it when other owners go as well, if that differs.
	InTheEnd Outcome `json:"inTheEnd,omitempty"`
	// Because are the owners with which it goes, or to which it loses the reference.
	Because []Ref `json:"because,omitempty"`
}

// ExposedOwner is an owner that is named through the version.
type ExposedOwner struct {
	Object Ref `json:"object"`
	// Dependents counts the objects that name it so.
	Dependents int `json:"dependents"`
	// New is what becomes of a dependent that is created with such a reference while
	// the version still maps and is not served any more.
	New Outcome `json:"new"`
}

// SafeDependent is a dependent that the change takes nothing from.
type SafeDependent struct {
	Object Ref    `json:"object"`
	Reason string `json:"reason"`
	// Because are the references or owners that make it so.
	Because []Ref `json:"because,omitempty"`
}

// ExposureNote is something to know about the definition.
type ExposureNote struct {
	Note    string `json:"note"`
	Message string `json:"message"`
}

// ReferencePatch migrates the references of one object.
type ReferencePatch struct {
	Object Ref `json:"object"`
	// Patch is a JSON patch (RFC 6902): it tests the uid and each reference, and
	// replaces nothing but the apiVersion.
	Patch string `json:"patch"`
	// Command sends it; empty when a name is none that a shell may be given.
	Command string `json:"command,omitempty"`
}

// GetObjectKind gives printers the apiVersion and kind.
func (e *Exposure) GetObjectKind() schema.ObjectKind { return typeFields{&e.APIVersion, &e.Kind} }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (e *Exposure) DeepCopyObject() runtime.Object { return deepCopy(e) }
