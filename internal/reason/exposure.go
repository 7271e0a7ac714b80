package reason

// What has to happen for an object to be lost.
const (
	CRDDeleted        Code = "CRDDeleted"
	LookedAt          Code = "LookedAt"
	NewDependent      Code = "NewDependent"
	CollectorRestarts Code = "CollectorRestarts"
	Polled            Code = "Polled"
	ReferencesChange  Code = "ReferencesChange"
	DependentReleased Code = "DependentReleased"
	OwnerLookedAt     Code = "OwnerLookedAt"
	OwnerGoes         Code = "OwnerGoes"
	OwnersGo          Code = "OwnersGo"
	InTheEnd          Code = "InTheEnd"
	OwnerGoesLater    Code = "OwnerGoesLater"
	OwnerWaitsLater   Code = "OwnerWaitsLater"
)

// Condition are what has to happen for an object to be lost, in the order in which they are listed.
//
// Rule: spec §3.18 "When is a dependent looked at at all?", §3.6.2 and §3.6.3 for
// what queues an object, §3.16 Q4 for the last one.
var Condition = &Family{
	Title: "Conditions of an exposure",
	Found: "in what `dry-run unserve` says of when something is lost",
	Meanings: []Meaning{
		{Code: CRDDeleted, Long: "The CRD is deleted, and its instances with it: dependents that are looked at within 30 seconds lose their owner."},
		{Code: LookedAt, Long: "The garbage collector looks at the dependents in the first 30 seconds, for whatever reason."},
		{Code: NewDependent, Long: "An object is created with a reference through the version in the first 30 seconds, or later if the owner was looked for meanwhile."},
		{Code: CollectorRestarts, Long: "kube-controller-manager has restarted, or changed its leader, shortly before, and is not through with what it looks at when it begins."},
		{Code: Polled, Long: "The kind of the object is not watched, and others refer to it: it is asked for again and again."},
		{Code: ReferencesChange, Long: "The object gets another owner reference that is absent, or that names a version that is not the preferred one."},
		{Code: DependentReleased, Long: "A dependent drops its blocking reference to the object, as a ReplicaSet's pod does when its labels change."},
		{Code: OwnerLookedAt, Long: "The owner itself is looked at, which happens when one of its own owners goes or one of its dependents drops a blocking reference: the garbage collector watches it in this version, does not find it, and looks at all of its dependents."},
		{Code: OwnerGoes, Long: "Another owner goes, or is deleted in the foreground."},
		{Code: OwnersGo, Long: "All other owners go."},
		{Code: InTheEnd, Long: "Other owners go as well, or the finalizers that hold what is lost give way."},
		{Code: OwnerGoesLater, Long: "The owner is deleted when the garbage collector knows that the version is not served: the dependent is kept forever."},
		{Code: OwnerWaitsLater, Long: "An owner that the dependent blocks is deleted in the foreground when the garbage collector knows that the version is not served: it waits forever."},
	},
}

// Why a dependent is safe.
const (
	OtherVersion        Code = "OtherVersion"
	VersionNotServed    Code = "VersionNotServed"
	OwnerNotLiving      Code = "OwnerNotLiving"
	AlreadyGarbage      Code = "AlreadyGarbage"
	AlreadyBeingDeleted Code = "AlreadyBeingDeleted"
	OwnerUnresolved     Code = "OwnerUnresolved"
	NotWatched          Code = "NotWatched"
)

// Safe are the reasons why a dependent is safe.
var Safe = &Family{
	Title: "Reasons of an exposure",
	Found: "in the dependents that `dry-run unserve` calls safe",
	Meanings: []Meaning{
		{Code: OtherVersion, Short: "they name the owner through a version that stays", Long: "It names its owner through a version that stays."},
		{Code: VersionNotServed, Short: "the version is not served already; they are never collected", Long: "The version is not served already: the reference cannot be resolved, and the object is never collected."},
		{Code: OwnerNotLiving, Short: "the owner is absent or on its way out today", Long: "The owner is absent or on its way out today: the version changes nothing about it."},
		{Code: AlreadyGarbage, Short: "they are garbage today, and go anyway", Long: "It is garbage today, and goes whatever is served."},
		{Code: AlreadyBeingDeleted, Short: "they are being deleted already", Long: "It is being deleted already."},
		{Code: OwnerUnresolved, Short: "another reference cannot be resolved", Long: "Another reference of it cannot be resolved: as long as it is there, the garbage collector decides nothing about the object."},
		{Code: NotWatched, Short: "the garbage collector does not watch the kind", Long: "The garbage collector does not watch its kind, and nothing refers to it."},
	},
}

// What to know about a definition.
const (
	NotServed        Code = "NotServed"
	OnlyVersion      Code = "OnlyVersion"
	PreferredVersion Code = "PreferredVersion"
	StorageVersion   Code = "StorageVersion"
	StoredVersion    Code = "StoredVersion"
	StorageUnknown   Code = "StorageUnknown"
	NeverCollected   Code = "NeverCollected"
	ServedAgain      Code = "ServedAgain"
	CRDTerminating   Code = "CRDTerminating"
	NotMigrated      Code = "NotMigrated"
)

// ExposureNote are what to know about a definition, in the order in which they are listed.
var ExposureNote = &Family{
	Title: "Notes of an exposure",
	Found: "in the notes of `dry-run unserve`",
	Meanings: []Meaning{
		{Code: NotServed, Long: "The version is not served now. If that is so for less than 30 seconds, the garbage collector may not know it yet."},
		{Code: OnlyVersion, Long: "No other version is served: references cannot be migrated, and the kind cannot be read any more."},
		{Code: PreferredVersion, Long: "The garbage collector watches the kind in this version, and keeps using it for owners until kube-controller-manager restarts."},
		{Code: StorageVersion, Long: "It is the storage version: the server stops serving it, but still stores objects in it."},
		{Code: StoredVersion, Long: "It is among status.storedVersions: it cannot leave spec.versions before everything that is stored in it was written again."},
		{Code: StorageUnknown, Long: "The status of the CRD was not seen: whether something is stored in the version is not known."},
		{Code: NeverCollected, Long: "Whatever keeps its reference through the version is never collected after that, not even when its owner goes."},
		{Code: ServedAgain, Long: "To serve the version again does not help: an owner that was looked for meanwhile counts as absent until kube-controller-manager restarts."},
		{Code: CRDTerminating, Long: "The CRD is being deleted already."},
		{Code: NotMigrated, Long: "References to owners that are absent, on their way out or not seen are left out of the patches: through another version such an object could be collected at once."},
	},
}
