package report

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"k8s.io/apimachinery/pkg/types"
)

// Undo is the plan or the result of restoring a backup.
type Undo struct {
	Header

	Source Source `json:"source"`
	// Bundle is the directory of the backup. Journal is the directory of the record of this undo;
	// empty until a request is sent.
	Bundle  string `json:"backup"`
	Journal string `json:"journal,omitempty"`
	// Lost is set when the undo restores from the history of the cluster: what was lost. Later is
	// what cannot be restored yet.
	Lost  *Lost      `json:"lost,omitempty"`
	Later *LaterUndo `json:"later,omitempty"`
	// Older is what was deleted before the requested time and is still in the history; only set if
	// nothing was deleted since.
	Older *OlderLosses `json:"older,omitempty"`
	// SameCluster is the proof that the backup is of this cluster.
	SameCluster ClusterProof `json:"sameCluster"`
	// Digest is "sha256:" and the hash of the bundle, the cluster and the steps.
	Digest  string   `json:"digest"`
	State   RunState `json:"state,omitempty"`
	Message string   `json:"message,omitempty"`
	// Summary counts the steps by state, and the skipped objects.
	Summary UndoSummary `json:"summary"`
	// Steps are in execution order.
	Steps   []UndoStep `json:"steps"`
	Skipped []UndoSkip `json:"skipped"`
	// CutOff are namespaces and CRDs that were already being deleted when the history of the
	// cluster begins. Content that was deleted before is unknown and not restored.
	CutOff []object.Ref `json:"cutOff,omitempty"`
}

// Incomplete reports whether something that is known to be gone is not restored, or an object
// exists with other content than was saved.
func (u *Undo) Incomplete() bool {
	return u.Summary.NotRestored+len(u.CutOff)+u.Summary.Differs+u.Summary.Changed > 0
}

// LaterUndo is what an undo cannot restore yet: the instances of CRDs that are gone. The API server
// shows them as they were once their CRDs are back.
type LaterUndo struct {
	CRDs []object.Ref `json:"crds"`
	// Dependents is the number of existing dependents of these instances. The garbage collector
	// deletes them once it sees that the instances are gone.
	Dependents int `json:"dependents,omitempty"`
	// Saved is the backup of everything else that was lost, and of the Dependents; absent if there
	// is nothing to save.
	Saved string `json:"saved,omitempty"`
	// Remembered is the time, in RFC 3339, until which an API server with default settings at least
	// remembers the instances; absent if times are unknown.
	Remembered string `json:"remembered,omitempty"`
	// Then is the command that restores them after this undo.
	Then Remedy `json:"then"`
}

// OlderLosses is what an undo that reaches further back would restore.
type OlderLosses struct {
	// Objects is their number. Last is the one that was deleted last, and At is when that deletion
	// began.
	Objects int        `json:"objects"`
	Last    object.Ref `json:"last"`
	At      Moment     `json:"at"`
	// Then is the command that restores them; absent if there is none.
	Then *Remedy `json:"then,omitempty"`
}

// ClusterProof is a proof that a backup is of a cluster.
type ClusterProof string

// The proofs.
const (
	// ProofClusterUID: namespace kube-system has the same uid.
	ProofClusterUID ClusterProof = "ClusterUID"
	// ProofNamespace: a namespace of the objects has the same uid.
	ProofNamespace ClusterProof = "Namespace"
	// ProofObject: an object of the backup, an owner of one, or another object that the backup
	// recorded has the same uid.
	ProofObject ClusterProof = "Object"
	// ProofJustSaved: this command itself has read the backup from the cluster.
	ProofJustSaved ClusterProof = "JustSaved"
	// ProofAssumed: no proof; the user has said so.
	ProofAssumed ClusterProof = "Assumed"
)

// UndoSummary counts.
type UndoSummary struct {
	// Planned is the number of steps. Made to Unknown count them by result.
	Planned  int `json:"planned"`
	Made     int `json:"made"`
	Restored int `json:"restored"`
	Failed   int `json:"failed"`
	NotDone  int `json:"notDone"`
	Unknown  int `json:"unknown"`
	Skipped  int `json:"skipped"`
	// Superseded is the number of statuses that were written since and are kept.
	Superseded int `json:"superseded,omitempty"`
	// Differs is the number of objects that exist again with other content than was saved, and keep
	// it.
	Differs int `json:"differs,omitempty"`
	// Changed is the number of made objects of which the server changed fields.
	Changed int `json:"changed,omitempty"`
	// Forgotten is the number of skipped objects that are gone and cannot be restored because their
	// content is unknown.
	Forgotten int `json:"forgotten,omitempty"`
	// NotRestored is the number of skipped objects that are not restored although they should be:
	// their content is unknown, it is unknown whether they exist, or their deletion or that of their
	// namespace has not ended.
	NotRestored int `json:"notRestored,omitempty"`
	// Dropped is the number of references that are not restored.
	Dropped int `json:"dropped"`
}

// StepState is the state of a step of an undo.
type StepState string

// The states of steps.
const (
	// StepPlanned: its request was not sent yet.
	StepPlanned StepState = "Planned"
	// StepMade: the object exists again. Differences are what the server changed.
	StepMade StepState = "Made"
	// StepRestored: the object has its references or its status again.
	StepRestored StepState = "Restored"
	// StepDiffers: the object was created by another client, with other content, or the server stored
	// something else than was written. It stays as it is.
	StepDiffers StepState = "Differs"
	// StepTaken: another client has created an object of that name. It stays as it is.
	StepTaken StepState = "TakenMeanwhile"
	// StepRefused: the server refused it.
	StepRefused StepState = "Refused"
	// StepContended: the object has changed since the plan was made.
	StepContended StepState = "Contended"
	// StepUnknown: the request was sent, and its result is unknown.
	StepUnknown StepState = "Unknown"
	// StepSuperseded: the status was written since. It stays.
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
	Object object.Ref `json:"object"`
	UID    types.UID  `json:"uid,omitempty"`
	// References are the restored owner references, as they were.
	References []object.Ref       `json:"references,omitempty"`
	Dropped    []DroppedReference `json:"dropped,omitempty"`
	// Changes are the fields that are not written as they were saved, and why. Not listed is what
	// every new object has: a new uid, resourceVersion, generation and creation time, no deletion
	// time, and an annotation with the old uid. Stripped are those that are left out. Notes are what
	// the user should know.
	Changes  []UndoChange `json:"changes,omitempty"`
	Stripped []string     `json:"stripped,omitempty"`
	Notes    []UndoNote   `json:"notes,omitempty"`
	// Differences are the fields that are overwritten. For StepDiffers they are the fields that are
	// not as saved, for StepMade those that the server, such as a webhook, stored otherwise.
	Differences []FieldDifference `json:"differences,omitempty"`
	State       StepState         `json:"state"`
	Message     string            `json:"message,omitempty"`
}

// FieldDifference is a field with another value than the saved one, in an object that exists again.
type FieldDifference struct {
	// Path is the path of the field, such as spec.replicas or data["app.conf"].
	Path string `json:"path"`
	// Saved and Now are its values: text as it is, anything else as JSON. An absent one means that
	// the field had no value, unless Hidden is true.
	Saved *string `json:"saved,omitempty"`
	Now   *string `json:"now,omitempty"`
	// Hidden is true if the values are left out: they are those of a Secret, or --diff was not
	// given.
	Hidden bool `json:"hidden,omitempty"`
}

// DroppedReference is a reference that is not restored, and why.
type DroppedReference struct {
	Owner object.Ref `json:"owner"`
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// UndoChange is a field that an undo does not write as it was saved.
type UndoChange struct {
	// Field is the path of the field, such as spec.nodeName.
	Field string `json:"field"`
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// UndoNote is something that the user should know before a step.
type UndoNote struct {
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Volume is the volume that a PVC waits for. Release is the command that makes it available, if
	// there is one.
	Volume  *object.Ref `json:"volume,omitempty"`
	Release *Remedy     `json:"release,omitempty"`
}

// UndoSkip is an object that is left alone, and why.
type UndoSkip struct {
	Object object.Ref `json:"object"`
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason string `json:"reason"`
	// UID is that of the object that has the name now.
	UID     types.UID          `json:"uid,omitempty"`
	Dropped []DroppedReference `json:"dropped,omitempty"`
	// Differences are the fields that are not as saved, for the reason Differs.
	Differences []FieldDifference `json:"differences,omitempty"`
	Message     string            `json:"message"`
}

// Backups are the backups on this machine, the newest first.
type Backups struct {
	Header

	// Directory is where they are.
	Directory string   `json:"directory"`
	Backups   []Backup `json:"backups"`
}

// Backup is an entry of the list of backups.
type Backup struct {
	Name string `json:"name"`
	// Created is when the run that made it began, in RFC 3339; absent if it cannot be read.
	Created string `json:"created,omitempty"`
	// Command is the kind of command that made it.
	Command string `json:"command,omitempty"`
	// Objects is the number of objects in it. Main is the one that describes it best: a namespace,
	// else a CRD, else the first.
	Objects int         `json:"objects"`
	Main    *object.Ref `json:"main,omitempty"`
	// Server is the API server of its cluster, ClusterUID the uid of namespace kube-system there.
	Server     string `json:"server,omitempty"`
	ClusterUID string `json:"clusterUID,omitempty"`
	// Undone is when the last undo of it began, in RFC 3339; absent if there was none. Partly is
	// true if its undos did not create everything that they were to create.
	Undone string `json:"undone,omitempty"`
	Partly bool   `json:"partly,omitempty"`
	// Unreadable is why the other fields are unknown.
	Unreadable string `json:"unreadable,omitempty"`
}
