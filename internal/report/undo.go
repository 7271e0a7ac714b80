package report

import "k8s.io/apimachinery/pkg/types"

// Undo is how what a bundle holds is made again: what is going to be done, or what
// became of it.
type Undo struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Source     Source `json:"source"`
	// Bundle is the directory that is undone, Journal that of the record of this
	// undo; empty as long as nothing was sent.
	Bundle  string `json:"backup"`
	Journal string `json:"journal,omitempty"`
	// Lost is what was lost, where it is brought back from the history of the cluster, and
	// Later what cannot be yet.
	Lost  *Lost      `json:"lost,omitempty"`
	Later *LaterUndo `json:"later,omitempty"`
	// Older is what was deleted before the time that was asked for and is still remembered, where
	// nothing was since.
	Older *OlderLosses `json:"older,omitempty"`
	// SameCluster is what shows that the backup is of this cluster.
	SameCluster ClusterProof `json:"sameCluster"`
	// Digest is "sha256:" and the hash of the bundle, the cluster and the steps.
	Digest  string   `json:"digest"`
	State   RunState `json:"state,omitempty"`
	Message string   `json:"message,omitempty"`
	// Summary counts the steps by what is or was done, and the rest.
	Summary UndoSummary `json:"summary"`
	// Steps are in the order in which they are taken.
	Steps   []UndoStep `json:"steps"`
	Skipped []UndoSkip `json:"skipped"`
	// CutOff are namespaces and CRDs that were being deleted already when the history of the cluster
	// begins: what had gone with them by then is not known, and not restored.
	CutOff []Ref `json:"cutOff,omitempty"`
}

// Incomplete reports whether something is known to be gone that the undo does not restore, or to be
// there with other content than was saved.
func (u *Undo) Incomplete() bool { return u.Unknown() || u.Summary.Differs > 0 }

// Unknown reports whether the content of something that is gone is not known.
func (u *Undo) Unknown() bool { return u.Summary.Forgotten > 0 || len(u.CutOff) > 0 }

// LaterUndo is what an undo cannot bring back yet: the objects of CRDs that are gone. The API
// server shows them as they were once their CRDs are back.
type LaterUndo struct {
	CRDs []Ref `json:"crds"`
	// Dependents is how many objects are still there that belong to theirs, and which the garbage
	// collector deletes once it sees that those are gone.
	Dependents int `json:"dependents,omitempty"`
	// Saved is the backup of all else that was lost, and of the Dependents; absent if that is nothing.
	Saved string `json:"saved,omitempty"`
	// Remembered is until when the API server remembers them at least, if it has the usual
	// settings, in RFC 3339; absent where times are not known.
	Remembered string `json:"remembered,omitempty"`
	// Then is the command that brings them back after this undo.
	Then Remedy `json:"then"`
}

// OlderLosses are what an undo that reaches back further would bring back.
type OlderLosses struct {
	// Objects counts them, Last is the one that was deleted last, and At when that began.
	Objects int    `json:"objects"`
	Last    Ref    `json:"last"`
	At      Moment `json:"at"`
	// Then is the command that brings them back; absent where there is none.
	Then *Remedy `json:"then,omitempty"`
}

// ClusterProof is what shows that a backup is of a cluster.
type ClusterProof string

// The proofs.
const (
	// ProofClusterUID: namespace kube-system has the same uid.
	ProofClusterUID ClusterProof = "ClusterUID"
	// ProofNamespace: a namespace of the objects has the uid that it had.
	ProofNamespace ClusterProof = "Namespace"
	// ProofObject: an object of the backup, an owner of one, or one that was noted beside them has
	// the uid that it had.
	ProofObject ClusterProof = "Object"
	// ProofJustSaved: the command itself has read the backup from this cluster, a moment before.
	ProofJustSaved ClusterProof = "JustSaved"
	// ProofAssumed: nothing shows it; whoever ran the command has said so.
	ProofAssumed ClusterProof = "Assumed"
)

// UndoSummary counts.
type UndoSummary struct {
	// Planned is the number of steps; the others say what became of them.
	Planned  int `json:"planned"`
	Made     int `json:"made"`
	Restored int `json:"restored"`
	Failed   int `json:"failed"`
	NotDone  int `json:"notDone"`
	Unknown  int `json:"unknown"`
	Skipped  int `json:"skipped"`
	// Superseded is the number of statuses that were left as somebody has written them
	// since.
	Superseded int `json:"superseded,omitempty"`
	// Differs is how many objects exist again with other content than was saved, which they keep.
	Differs int `json:"differs,omitempty"`
	// Forgotten is how many of the skipped objects are gone, and cannot be restored since their content
	// is not known.
	Forgotten int `json:"forgotten,omitempty"`
	// Dropped is the number of references that are not written again.
	Dropped int `json:"dropped"`
}

// StepState is what became of a step of an undo.
type StepState string

// The states of steps.
const (
	// StepPlanned: nothing was sent yet.
	StepPlanned StepState = "Planned"
	// StepMade: the object is there again.
	StepMade StepState = "Made"
	// StepRestored: the object has its references again, or its status.
	StepRestored StepState = "Restored"
	// StepDiffers: somebody else has made the object, with other content; it stays as it is.
	StepDiffers StepState = "Differs"
	// StepTaken: somebody else has made an object of that name; it stays as it is.
	StepTaken StepState = "TakenMeanwhile"
	// StepRefused: the server said no.
	StepRefused StepState = "Refused"
	// StepContended: the object has changed since the plan was made.
	StepContended StepState = "Contended"
	// StepUnknown: the request was sent, and nothing says what became of it.
	StepUnknown StepState = "Unknown"
	// StepSuperseded: somebody has written a status since; it stays.
	StepSuperseded StepState = "Superseded"
	// StepNotDone: nothing was sent.
	StepNotDone StepState = "NotDone"
)

// UndoStep is one request of an undo.
type UndoStep struct {
	N int `json:"n"`
	// Verb is Create, Restore (owner references), Status, Overwrite, Secrets (of a ServiceAccount) or
	// Manage (managedFields that an interrupted undo has left).
	Verb string `json:"verb"`
	// Object is the object as it was, with its old uid; UID is the one it has now.
	Object Ref       `json:"object"`
	UID    types.UID `json:"uid,omitempty"`
	// References are the owners to which the object refers again, as they were.
	References []Ref              `json:"references,omitempty"`
	Dropped    []DroppedReference `json:"dropped,omitempty"`
	// Stripped are fields that are left out, Notes what a person should know.
	Stripped []string   `json:"stripped,omitempty"`
	Notes    []UndoNote `json:"notes,omitempty"`
	// Differences are the fields that are overwritten; of a step that Differs those that are not as
	// they were saved.
	Differences []FieldDifference `json:"differences,omitempty"`
	State       StepState         `json:"state"`
	Message     string            `json:"message,omitempty"`
}

// FieldDifference is a field of an object that exists again whose value is not the saved one.
type FieldDifference struct {
	// Path is where the field is, such as spec.replicas or data["app.conf"].
	Path string `json:"path"`
	// Saved and Now are its values: text as it is, all else as JSON. One that is absent has no
	// value, unless both are hidden.
	Saved *string `json:"saved,omitempty"`
	Now   *string `json:"now,omitempty"`
	// Hidden says that the values are left out: they are those of a Secret, or --diff was not given.
	Hidden bool `json:"hidden,omitempty"`
}

// DroppedReference is a reference that is not written again, and why.
type DroppedReference struct {
	Owner Ref `json:"owner"`
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// UndoNote is something that a person should know before a step.
type UndoNote struct {
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Volume is the one that a PVC waits for, and Release the command that lets it be bound, where a
	// command can do that.
	Volume  *Ref    `json:"volume,omitempty"`
	Release *Remedy `json:"release,omitempty"`
}

// UndoSkip is an object that is left alone, and why.
type UndoSkip struct {
	Object Ref `json:"object"`
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason string `json:"reason"`
	// UID is that of what has the coordinates now.
	UID     types.UID          `json:"uid,omitempty"`
	Dropped []DroppedReference `json:"dropped,omitempty"`
	// Differences are the fields in which it is not as it was saved: Differs.
	Differences []FieldDifference `json:"differences,omitempty"`
	Message     string            `json:"message"`
}
