package unserve

// Condition is something that has to happen for an object to be lost. Conditions are
// API; docs/reasons.md lists them.
type Condition string

// The conditions, in the order in which they are listed.
const (
	DefinitionDeleted Condition = "DefinitionDeleted"
	LookedAt          Condition = "LookedAt"
	NewDependent      Condition = "NewDependent"
	CollectorRestarts Condition = "CollectorRestarts"
	Polled            Condition = "Polled"
	ReferencesChange  Condition = "ReferencesChange"
	DependentReleased Condition = "DependentReleased"
	OwnerLookedAt     Condition = "OwnerLookedAt"
	OwnerGoes         Condition = "OwnerGoes"
	OwnersGo          Condition = "OwnersGo"
	InTheEnd          Condition = "InTheEnd"
	OwnerGoesLater    Condition = "OwnerGoesLater"
	OwnerWaitsLater   Condition = "OwnerWaitsLater"
)

// ConditionText is one documented condition.
type ConditionText struct {
	Condition Condition
	Text      string
}

// Conditions lists the conditions with one sentence each.
//
// Rule: spec §3.18 "When is a dependent looked at at all?", §3.6.2 and §3.6.3 for
// what queues an object, §3.16 Q4 for the last one.
func Conditions() []ConditionText {
	return []ConditionText{
		{DefinitionDeleted, "The definition is deleted, and its instances with it: dependents that are looked at within 30 seconds lose their owner."},
		{LookedAt, "The collector looks at the dependents in the first 30 seconds, for whatever reason."},
		{NewDependent, "An object is created with a reference through the version in the first 30 seconds, or later if the owner was looked for meanwhile."},
		{CollectorRestarts, "kube-controller-manager has restarted, or changed its leader, shortly before, and is not through with what it looks at when it begins."},
		{Polled, "The kind of the object is not watched, and others refer to it: it is asked for again and again."},
		{ReferencesChange, "The object gets another owner reference that is absent, or that names a version that is not the preferred one."},
		{DependentReleased, "A dependent drops its blocking reference to the object, as a ReplicaSet's pod does when its labels change."},
		{OwnerLookedAt, "The owner itself is looked at, which happens when one of its own owners goes or one of its dependents drops a blocking reference: the collector watches it in this version, does not find it, and looks at all of its dependents."},
		{OwnerGoes, "Another owner goes, or is deleted in the foreground."},
		{OwnersGo, "All other owners go."},
		{InTheEnd, "Other owners go as well, or the finalizers that hold what is lost give way."},
		{OwnerGoesLater, "The owner is deleted when the collector knows that the version is not served: the dependent is kept for ever."},
		{OwnerWaitsLater, "An owner that the dependent blocks is deleted in the foreground when the collector knows that the version is not served: it waits for ever."},
	}
}

// rank is the place of a condition in the order of the list.
func (c Condition) rank() int {
	for i, t := range Conditions() {
		if t.Condition == c {
			return i
		}
	}
	return len(Conditions())
}

// Reason is why a dependent of the kind is safe. Reasons are API; docs/reasons.md
// lists them.
type Reason string

// The reasons.
const (
	OtherVersion     Reason = "OtherVersion"
	VersionNotServed Reason = "VersionNotServed"
	OwnerNotLiving   Reason = "OwnerNotLiving"
	AlreadyGarbage   Reason = "AlreadyGarbage"
	AlreadyDeleted   Reason = "AlreadyBeingDeleted"
	OwnerUnresolved  Reason = "OwnerUnresolved"
	NotWatched       Reason = "NotWatched"
)

// ReasonText is one documented reason.
type ReasonText struct {
	Reason Reason
	Text   string
}

// Reasons lists the reasons with one sentence each.
func Reasons() []ReasonText {
	return []ReasonText{
		{OtherVersion, "It names its owner through a version that stays."},
		{VersionNotServed, "The version is not served already: the reference cannot be resolved, and the object is never collected."},
		{OwnerNotLiving, "The owner is absent or on its way out today: the version changes nothing about it."},
		{AlreadyGarbage, "It is garbage today, and goes whatever is served."},
		{AlreadyDeleted, "It is being deleted already."},
		{OwnerUnresolved, "Another reference of it cannot be resolved: as long as it is there, the collector decides nothing about the object."},
		{NotWatched, "The collector does not watch its kind, and nobody refers to it."},
	}
}

// Note is something to know about the definition. Notes are API; docs/reasons.md lists
// them.
type Note string

// The notes, in the order in which they are listed.
const (
	NotServed        Note = "NotServed"
	OnlyVersion      Note = "OnlyVersion"
	PreferredVersion Note = "PreferredVersion"
	StorageVersion   Note = "StorageVersion"
	StoredVersion    Note = "StoredVersion"
	StorageUnknown   Note = "StorageUnknown"
	NeverCollected   Note = "NeverCollected"
	ServedAgain      Note = "ServedAgain"
	Terminating      Note = "DefinitionTerminating"
	NotMigrated      Note = "NotMigrated"
)

// NoteText is one documented note.
type NoteText struct {
	Note Note
	Text string
}

// Notes lists the notes with one sentence each.
func Notes() []NoteText {
	return []NoteText{
		{NotServed, "The version is not served now. If that is so for less than 30 seconds, the collector may not know it yet."},
		{OnlyVersion, "No other version is served: there is none to which references could be migrated, and the kind cannot be read at all any more."},
		{PreferredVersion, "The collector watches the kind in this version, and goes on naming the owners by it until kube-controller-manager restarts."},
		{StorageVersion, "It is the storage version: the server lets it stop being served, and goes on storing in it."},
		{StoredVersion, "It is among status.storedVersions: it cannot leave spec.versions before everything that is stored in it was written again."},
		{StorageUnknown, "The status of the definition was not seen: whether something is stored in the version is not known."},
		{NeverCollected, "Whatever keeps its reference through the version is never collected after that, not even when its owner goes."},
		{ServedAgain, "To serve the version again does not help: an owner that was looked for meanwhile counts as absent until kube-controller-manager restarts."},
		{Terminating, "The definition is being deleted already."},
		{NotMigrated, "References to owners that are absent, on their way out or not seen are left out of the patches: through another version such an object could be collected at once."},
	}
}

func noteText(n Note) string {
	for _, t := range Notes() {
		if t.Note == n {
			return t.Text
		}
	}
	return string(n)
}
