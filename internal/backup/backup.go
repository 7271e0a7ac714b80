package backup

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/private"
)

// format is the version of the format. It is incremented when an older reader would misunderstand a
// newer backup.
const format = 1

const (
	manifestName = "manifest.json"
	journalName  = "journal.jsonl"

	maxObject   = 16 << 20  // ten times etcd's default limit
	maxManifest = 512 << 20 // half a million objects
	maxLine     = 4 << 20
	// maxWitnesses is ten times the namespaces of the largest clusters.
	maxWitnesses = 100_000
)

// objectName returns the name of the n-th object file, counted from 1.
func objectName(n int) string { return fmt.Sprintf("%08d.json", n) }

// Head describes the run that a backup was made for.
type Head struct {
	// Tool is the version of the program.
	Tool string
	// Command is the kind of command: delete, collect, removeFinalizer, undo or lost.
	Command string
	// PlanDigest is the digest of the confirmed plan: "sha256:" and 64 hexadecimal digits.
	PlanDigest string
	Cluster    Cluster
	// Witnesses are objects that the run does not delete, such as the namespaces that it works in.
	// A cluster that has one of them under the same UID is the same cluster. They replace the UID
	// of the cluster for users without permission to read it.
	Witnesses []object.Ref
	// Created is when the run began.
	Created time.Time
	// Secrets reports whether the bytes of Secrets are kept, too.
	Secrets bool
}

// Cluster is the identity of a cluster.
type Cluster struct {
	// UID is the UID of the namespace kube-system. It is empty if it could not be read. An empty
	// UID is not evidence of a different cluster.
	UID    types.UID `json:"uid"`
	Server string    `json:"server"`
}

// Action is what the run intends to do to an object.
type Action string

// The actions.
const (
	// Deleted: the plan deletes the object, by a request of ours or as a consequence of one.
	Deleted Action = "deleted"
	// Changed: the plan changes ownerReferences or finalizers of the object. The object may still
	// be deleted by that, when its last finalizer is removed.
	Changed Action = "changed"
)

// Why is the reason why an object cannot be recreated from the backup.
type Why string

// The reasons for keeping no bytes of an object.
const (
	// SecretLeftOut: the object is a Secret, and keeping Secrets was not requested.
	SecretLeftOut Why = "SecretLeftOut"
	// BackupRefused: the user asked for no backup.
	BackupRefused Why = "BackupRefused"
	// Forgotten: the record of the past no longer contained the object.
	Forgotten Why = "Forgotten"
)

// Entry is one object in a backup.
type Entry struct {
	Object          object.Ref
	ResourceVersion string
	Action          Action
	// Why is empty if the object can be recreated.
	Why Why
	// File, Size and SHA256 (hexadecimal) are zero unless the object can be recreated.
	File   string
	Size   int64
	SHA256 string
}

// Restorable reports whether the backup has the bytes of the object.
func (e *Entry) Restorable() bool { return e.Why == "" }

// ErrUnsealed reports that a backup was never finished. Requests are sent only after it is, so
// there is nothing to undo.
var ErrUnsealed = errors.New("the backup was never finished, so no request was sent")

// ErrUnknownCluster reports that the UID of the backup's cluster or of the current cluster is
// unknown, so they may be the same or different.
var ErrUnknownCluster = errors.New("the backup and the cluster cannot be compared: the uid of namespace kube-system is not known of both")

// ErrNotSaved reports that a request would destroy a version of an object that the backup does not
// contain.
var ErrNotSaved = errors.New("the backup does not have this version of the object")

// DamageError reports that a backup differs from what was written.
type DamageError = private.DamageError

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// directoryName returns the name of a new backup. It reveals nothing about the cluster.
func (h *Head) directoryName() (string, error) {
	if !digestForm.MatchString(h.PlanDigest) {
		return "", fmt.Errorf("plan digest %q is not of the form sha256:<64 hexadecimal digits>", h.PlanDigest)
	}
	if h.Created.IsZero() {
		return "", errors.New("a backup needs the time of its creation")
	}
	return h.Created.UTC().Format("20060102T150405Z") + "-" + h.PlanDigest[len("sha256:"):][:8], nil
}
