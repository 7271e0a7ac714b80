package reason

// Reasons of an undo to skip an object.
const (
	StillAlive Code = "StillAlive"
	MadeBefore Code = "MadeBefore"
	// OwnersGone: the undo restores it once it is gone.
	OwnersGone       Code = "OwnersGone"
	StillTerminating Code = "StillTerminating"
	// NamespaceTerminates: the object can be created once its namespace is gone and created again.
	NamespaceTerminates Code = "NamespaceTerminates"
	TakenByAnother      Code = "TakenByAnother"
	// SameContent: another client has created the object again.
	SameContent Code = "SameContent"
	// Differs: another client has created the object again, with other content.
	Differs           Code = "Differs"
	CannotTell        Code = "CannotTell"
	NotSaved          Code = "NotSaved"
	Forgotten         Code = "Forgotten"
	WouldRunAgain     Code = "WouldRunAgain"
	ControllerMakesIt Code = "ControllerMakesIt"
	HolderMakesIt     Code = "HolderMakesIt"
	PastEvent         Code = "PastEvent"
	ReferencesLost    Code = "ReferencesLost"
	RulesComeBack     Code = "RulesComeBack"
	SecretsLost       Code = "SecretsLost"
	ListedTwice       Code = "ListedTwice"
	ControllerMissing Code = "ControllerMissing"
	Unreadable        Code = "Unreadable"
)

// NotRestored are the reasons to skip an object that should be restored. An undo with one of them is
// not complete.
var NotRestored = []Code{Forgotten, NotSaved, Unreadable, CannotTell, OwnersGone, StillTerminating, NamespaceTerminates}

// UndoSkip has the reasons of an undo to skip an object.
var UndoSkip = &Family{
	Title: "Reasons of an undo to leave an object alone",
	Found: "in `skipped` of an undo",
	Meanings: []Meaning{
		{Code: StillAlive, Short: "it is there"},
		{Code: MadeBefore, Short: "an earlier undo made it"},
		{Code: OwnersGone, Short: "the garbage collector deletes it, since all its owners are gone"},
		{Code: StillTerminating, Short: "it exists and is being deleted, which cannot be undone"},
		{Code: NamespaceTerminates, Short: "its namespace is still Terminating, and nothing can be created in it"},
		{Code: TakenByAnother, Short: "another object has its name"},
		{Code: SameContent, Short: "it exists again, with the saved content"},
		{Code: Differs, Short: "it exists again, with other content than was saved"},
		{Code: CannotTell, Short: "whether it exists is unknown"},
		{Code: NotSaved, Short: "it is gone, and its content was not saved"},
		{Code: Forgotten, Short: "it is gone, and its content is forgotten or cannot be read"},
		// A finished Job or Pod, a finished custom resource, such as a Backup or a PipelineRun, or
		// an answered CertificateSigningRequest.
		{Code: WouldRunAgain, Short: "it had finished, and would run again"},
		{Code: ControllerMakesIt, Short: "a controller creates it"},
		// A lock or heartbeat: created again, it would claim a holder that may not exist.
		{Code: HolderMakesIt, Short: "its holder creates it again"},
		{Code: PastEvent, Short: "Events are records of the past"},
		{Code: ReferencesLost, Short: "it exists, and none of its lost references can be restored"},
		{Code: RulesComeBack, Short: "it exists, and the ClusterRole aggregation controller restores its rules"},
		// The tokens controller removes names, and adds none.
		{Code: SecretsLost, Short: "Secrets that are gone are not added again"},
		{Code: ControllerMissing, Short: "its controller does not exist and is not restored: nothing would manage it"},
		{Code: ListedTwice, Short: "a later version of it is restored"},
		{Code: Unreadable, Short: "its copy cannot be read"},
	},
}

// Reasons of an undo to drop a reference.
const (
	OwnerGone         Code = "OwnerGone"
	OwnerIsAnother    Code = "OwnerIsAnother"
	OwnerBeingDeleted Code = "OwnerBeingDeleted"
	OwnerElsewhere    Code = "OwnerElsewhere"
	OwnerAmbiguous    Code = "OwnerAmbiguous"
	OwnerNotRestored  Code = "OwnerNotRestored"
	OwnerCycle        Code = "OwnerCycle"
	ControllerTaken   Code = "ControllerTaken"
)

// UndoDrop has the reasons of an undo to drop a reference.
var UndoDrop = &Family{
	Title: "Reasons of an undo to drop a reference",
	Found: "in `dropped` of an undo and its steps",
	Meanings: []Meaning{
		{Code: OwnerGone, Short: "the owner is neither in the cluster nor in the backup"},
		{Code: OwnerIsAnother, Short: "another object has the name of the owner"},
		{Code: OwnerBeingDeleted, Short: "the owner is being deleted, and the object would go with it"},
		{Code: OwnerUnknown, Short: "whether the owner exists is unknown"},
		// Its coordinates or namespace make it an invalid owner.
		{Code: OwnerElsewhere, Short: "the uid belongs to another object"},
		{Code: OwnerAmbiguous, Short: "several objects have the uid"},
		{Code: OwnerNotRestored, Short: "the owner is not restored"},
		{Code: OwnerCycle, Short: "the object refers to itself"},
		{Code: ControllerTaken, Short: "the object has another controller by now"},
	},
}

// Notes on the steps of an undo.
const (
	AddressesDropped      Code = "AddressesDropped"
	VolumeGone            Code = "VolumeGone"
	VolumeTaken           Code = "VolumeTaken"
	VolumeReleased        Code = "VolumeReleased"
	TokenDropped          Code = "TokenDropped"
	WasBeingDeleted       Code = "WasBeingDeleted"
	FinalizersNotRestored Code = "FinalizersNotRestored"
	StatusComputed        Code = "StatusComputed"
	// RunsAgain: a finished Job, pod or custom resource, with --finished.
	RunsAgain      Code = "RunsAgain"
	StartsOver     Code = "StartsOver"
	SecretsAdded   Code = "SecretsAdded"
	FilledIn       Code = "FilledIn"
	OwnerMadeAgain Code = "OwnerMadeAgain"
)

// Reasons of an undo to write a field otherwise than it was saved.
const (
	OwnerHasNewUID    Code = "OwnerHasNewUID"
	NodeChosenAgain   Code = "NodeChosenAgain"
	RefusedAtCreation Code = "RefusedAtCreation"
	BoundAgain        Code = "BoundAgain"
	ClaimHasNewUID    Code = "ClaimHasNewUID"
	AccountUIDSet     Code = "AccountUIDSet"
	UIDGenerated      Code = "UIDGenerated"
	OfEarlierDeletion Code = "OfEarlierDeletion"
	AddressTried      Code = "AddressTried"
	ManagersRestored  Code = "ManagersRestored"
)

// UndoChange has the reasons of an undo to write a field otherwise than it was saved.
var UndoChange = &Family{
	Title: "Reasons of an undo to change a field",
	Found: "in `changes` of the steps of an undo",
	Meanings: []Meaning{
		{Code: OwnerHasNewUID, Short: "the owner has a new uid"},
		{Code: NodeChosenAgain, Short: "left out: the scheduler chooses a node again"},
		{Code: RefusedAtCreation, Short: "left out: the server refuses it for a new object"},
		{Code: BoundAgain, Short: "left out: the volume is bound again"},
		{Code: ClaimHasNewUID, Short: "left out: the PVC has a new uid; the volume stays reserved for its name"},
		{Code: AccountUIDSet, Short: "left out: the tokens controller writes the uid of the ServiceAccount"},
		{Code: TokenDropped, Short: "the token is generated again"},
		{Code: UIDGenerated, Short: "left out: the server generates it from the new uid"},
		{Code: OfEarlierDeletion, Short: "left out: it belonged to the earlier deletion"},
		{Code: AddressTried, Short: "kept if it is free; otherwise the Service gets a new one"},
		{Code: AddressesDropped, Short: "its addresses or node ports are in use by now: the Service gets new ones"},
		{Code: StatusComputed, Short: "status not restored: controllers set it again"},
		{Code: StartsOver, Short: "the Job starts over: status not restored"},
		{Code: SecretsAdded, Short: "the names that it lost are added to its secrets"},
		{Code: ManagersRestored, Short: "the saved ones replace those of kubectl-gc"},
	},
}

// UndoNote has the notes on the steps of an undo.
var UndoNote = &Family{
	Title: "Notes of an undo",
	Found: "in `notes` of the steps of an undo",
	Meanings: []Meaning{
		{Code: AddressesDropped, Short: "its addresses or node ports are in use by now: the Service gets new ones"},
		// It does not get an empty one: that would hide that the content is lost.
		{Code: VolumeGone, Short: "its volume is gone"},
		{Code: VolumeReleased, Short: "its volume still belongs to the PVC that was deleted, and has to be released"},
		{Code: VolumeTaken, Short: "its volume belongs to another PVC by now"},
		{Code: VolumeUnknown, Short: "whether its volume exists is unknown"},
		{Code: TokenDropped, Short: "the token is generated again"},
		{Code: WasBeingDeleted, Short: "it was being deleted when it was saved; the new one is not"},
		// Their controllers have already acted.
		{Code: FinalizersNotRestored, Short: "removed finalizers are not restored"},
		{Code: StatusComputed, Short: "status not restored: controllers set it again"},
		{Code: RunsAgain, Short: "it had finished: its controller may run it again"},
		{Code: StartsOver, Short: "the Job starts over: status not restored"},
		{Code: SecretsAdded, Short: "the names that it lost are added to its secrets"},
		{Code: SecretsLost, Short: "Secrets that are gone are not added again"},
		// Unless the new one has other content.
		{Code: FilledIn, Short: "a controller creates this object: its saved content is added to the new one"},
		{Code: OwnerMadeAgain, Short: "its owner was created again since, and is now its owner"},
	},
}
