package undo

// Text is the reason as part of a sentence: for people and for docs/reasons.md.
func (r SkipReason) Text() string { return skipTexts[r] }

// Text is the reason as part of a sentence: for people and for docs/reasons.md.
func (r DropReason) Text() string { return dropTexts[r] }

// Text is the note as part of a sentence: for people and for docs/reasons.md.
func (n Note) Text() string { return noteTexts[n] }

var skipTexts = map[SkipReason]string{
	StillAlive:        "it is there",
	MadeBefore:        "an earlier undo made it",
	StillTerminating:  "it is there and being deleted, which nobody can call off",
	TakenByAnother:    "another object has its name",
	CannotTell:        "nobody can tell whether it is there",
	NotSaved:          "it is gone, and its content was not kept",
	WouldRunAgain:     "it had run to its end, and would do its work again",
	ControllerMakesIt: "a controller makes it by itself",
	HolderMakesIt:     "its holder makes it anew",
	PastEvent:         "Events are records of the past",
	ReferencesLost:    "it is there, and none of the references that it lost can be given back",
	ListedTwice:       "the backup has it twice",
	Unreadable:        "its copy cannot be read",
}

var dropTexts = map[DropReason]string{
	OwnerGone:         "the owner is neither in the cluster nor in the backup",
	OwnerIsAnother:    "another object has the name of the owner",
	OwnerBeingDeleted: "the owner is being deleted, and would take the object along",
	OwnerUnknown:      "nobody can tell whether the owner is there",
	OwnerElsewhere:    "the uid is of an object of other coordinates",
	OwnerAmbiguous:    "several objects have the uid",
	OwnerNotRestored:  "the owner is not made again",
	OwnerCycle:        "the object refers to itself",
	ControllerTaken:   "the object has another controller by now",
}

var noteTexts = map[Note]string{
	AddressesDropped:      "the Service gets other addresses and node ports",
	VolumeGone:            "the claim waits for a volume that does not exist",
	VolumeReleased:        "the volume still belongs to the claim that was deleted: the new one waits until spec.claimRef.uid of the volume is taken away by hand",
	VolumeUnknown:         "nobody can tell whether its volume is there",
	TokenDropped:          "the token is made anew",
	WasBeingDeleted:       "it was being deleted when it was saved; the new one is not",
	StatusComputed:        "its status is not restored: controllers work it out anew",
	StartsOver:            "the Job starts over: its status is not restored",
	FilledIn:              "a controller makes this object by itself: what was in it is added to the new one",
	FinalizersNotRestored: "finalizers that it has lost are not given back",
}
