package reason

// Why an undo leaves an object alone.
const (
	StillAlive       Code = "StillAlive"
	MadeBefore       Code = "MadeBefore"
	StillTerminating Code = "StillTerminating"
	// NamespaceTerminates: the object can be made once its namespace is gone, and made again.
	NamespaceTerminates Code = "NamespaceTerminates"
	TakenByAnother      Code = "TakenByAnother"
	// SameContent: somebody else has made the object again.
	SameContent Code = "SameContent"
	// Differs: somebody else has made the object again, with other content.
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

// UndoSkip are the reasons of an undo to leave an object alone.
var UndoSkip = &Family{
	Title: "Reasons of an undo to leave an object alone",
	Found: "in `skipped` of an undo",
	Meanings: []Meaning{
		{Code: StillAlive, Short: "it is there"},
		{Code: MadeBefore, Short: "an earlier undo made it"},
		{Code: StillTerminating, Short: "it exists and is being deleted, which cannot be undone"},
		{Code: NamespaceTerminates, Short: "its namespace is still Terminating, and nothing can be made in it"},
		{Code: TakenByAnother, Short: "another object has its name"},
		{Code: SameContent, Short: "it exists again, with the saved content"},
		{Code: Differs, Short: "it exists again, and differs from what was saved"},
		{Code: CannotTell, Short: "whether it exists is unknown"},
		{Code: NotSaved, Short: "it is gone, and its content was not kept"},
		{Code: Forgotten, Short: "it is gone, and its content is not known any more or cannot be read"},
		// A Job or Pod that had run to its end, a custom resource that had, such as a Backup or a
		// PipelineRun, or a request for a certificate that was answered.
		{Code: WouldRunAgain, Short: "it had run to its end, and would do its work again"},
		{Code: ControllerMakesIt, Short: "a controller makes it by itself"},
		// A lock or a sign of life: made again it would say that somebody holds it who may not be there.
		{Code: HolderMakesIt, Short: "its holder makes it anew"},
		{Code: PastEvent, Short: "Events are records of the past"},
		{Code: ReferencesLost, Short: "it is there, and none of the references that it lost can be given back"},
		{Code: RulesComeBack, Short: "it is there, and the ClusterRole aggregation controller gives it the rules of those that it aggregates"},
		// The tokens controller takes names out, and adds none.
		{Code: SecretsLost, Short: "Secrets that are gone are not added to it again"},
		{Code: ControllerMissing, Short: "its controller does not exist and is not restored: nothing would manage it"},
		{Code: ListedTwice, Short: "a later version of it comes back"},
		{Code: Unreadable, Short: "its copy cannot be read"},
	},
}

// Why an undo does not write a reference.
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

// UndoDrop are the reasons of an undo not to write a reference.
var UndoDrop = &Family{
	Title: "Reasons of an undo to drop a reference",
	Found: "in `dropped` of an undo and its steps",
	Meanings: []Meaning{
		{Code: OwnerGone, Short: "the owner is neither in the cluster nor in the backup"},
		{Code: OwnerIsAnother, Short: "another object has the name of the owner"},
		{Code: OwnerBeingDeleted, Short: "the owner is being deleted, and would take the object along"},
		{Code: OwnerUnknown, Short: "whether the owner exists is unknown"},
		// Coordinates or a namespace that make it no valid owner.
		{Code: OwnerElsewhere, Short: "the uid is of an object of other coordinates"},
		{Code: OwnerAmbiguous, Short: "several objects have the uid"},
		{Code: OwnerNotRestored, Short: "the owner is not made again"},
		{Code: OwnerCycle, Short: "the object refers to itself"},
		{Code: ControllerTaken, Short: "the object has another controller by now"},
	},
}

// What people should know before an undo takes a step.
const (
	AddressesDropped      Code = "AddressesDropped"
	VolumeGone            Code = "VolumeGone"
	VolumeTaken           Code = "VolumeTaken"
	VolumeReleased        Code = "VolumeReleased"
	TokenDropped          Code = "TokenDropped"
	WasBeingDeleted       Code = "WasBeingDeleted"
	FinalizersNotRestored Code = "FinalizersNotRestored"
	StatusComputed        Code = "StatusComputed"
	// RunsAgain: a Job, a pod, or a custom resource that had ended, where --finished was given.
	RunsAgain      Code = "RunsAgain"
	StartsOver     Code = "StartsOver"
	SecretsAdded   Code = "SecretsAdded"
	FilledIn       Code = "FilledIn"
	OwnerMadeAgain Code = "OwnerMadeAgain"
)

// UndoNote are what people should know before an undo takes a step.
var UndoNote = &Family{
	Title: "Notes of an undo",
	Found: "in `notes` of the steps of an undo",
	Meanings: []Meaning{
		{Code: AddressesDropped, Short: "others have its addresses or node ports by now: the Service gets new ones"},
		// It is not given an empty one: nothing would show that the content is lost.
		{Code: VolumeGone, Short: "its volume does not exist any more"},
		{Code: VolumeReleased, Short: "its volume still belongs to the PVC that was deleted, and has to be released"},
		{Code: VolumeTaken, Short: "its volume belongs to another PVC by now"},
		{Code: VolumeUnknown, Short: "whether its volume exists is unknown"},
		{Code: TokenDropped, Short: "the token is generated again"},
		{Code: WasBeingDeleted, Short: "it was being deleted when it was saved; the new one is not"},
		// Whom they were for has been told.
		{Code: FinalizersNotRestored, Short: "finalizers that it has lost are not given back"},
		{Code: StatusComputed, Short: "its status is not restored: controllers set it again"},
		{Code: RunsAgain, Short: "it had run to its end: its controller may do the work again"},
		{Code: StartsOver, Short: "the Job starts over: its status is not restored"},
		{Code: SecretsAdded, Short: "its secrets get back the names that it has lost"},
		{Code: SecretsLost, Short: "Secrets that are gone are not added to it again"},
		// Unless something else is in the new one.
		{Code: FilledIn, Short: "a controller makes this object by itself: what was in it is added to the new one"},
		{Code: OwnerMadeAgain, Short: "its owner was made again since: it belongs to that one now"},
	},
}
