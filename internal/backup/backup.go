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

// format is the version of the format. It grows when an older reader would
// misunderstand a newer backup.
const format = 1

const (
	manifestName = "manifest.json"
	journalName  = "journal.jsonl"

	maxObject   = 16 << 20  // ten times what etcd takes by default
	maxManifest = 512 << 20 // half a million objects
	maxLine     = 4 << 20
	// maxWitnesses is ten times the namespaces of the largest clusters.
	maxWitnesses = 100_000
)

// objectName is the name of the n-th file of an object, counted from 1.
func objectName(n int) string { return fmt.Sprintf("%08d.json", n) }

// Head says what a backup was made for.
type Head struct {
	// Tool is the version of the program.
	Tool string
	// Command is the kind of command line: delete, collect, removeFinalizer, undo.
	Command string
	// PlanDigest is "sha256:" and the digest of the plan that was confirmed.
	PlanDigest string
	Cluster    Cluster
	// Witnesses are objects that the run does not take, such as the namespaces of what it
	// does: where one of them is, under its UID, is the same cluster. They stand in for
	// the UID of a cluster that not everybody may read.
	Witnesses []object.Ref
	// Created is when the run began.
	Created time.Time
	// Secrets tells that the bytes of Secrets are kept, too.
	Secrets bool
}

// Cluster is the identity of a cluster.
type Cluster struct {
	// UID is that of the namespace kube-system; empty when it could not be read, which
	// makes it no other cluster's.
	UID    types.UID `json:"uid"`
	Server string    `json:"server"`
}

// Action is what the run means to do to an object.
type Action string

// The actions.
const (
	// Deleted: the plan gets rid of the object, by a request of ours or by what
	// follows from one.
	Deleted Action = "deleted"
	// Changed: the plan changes references or finalizers of the object. It may be
	// gone then all the same, when its last finalizer goes.
	Changed Action = "changed"
)

// Why says why an object cannot be made again from the backup.
type Why string

// The reasons for which the bytes of an object are not kept.
const (
	// SecretLeftOut: it is a Secret, and Secrets were not asked for.
	SecretLeftOut Why = "SecretLeftOut"
	// BackupRefused: the user wanted no backup.
	BackupRefused Why = "BackupRefused"
	// Forgotten: what remembers the past did not show the object any more.
	Forgotten Why = "Forgotten"
)

// Entry is one object in a backup.
type Entry struct {
	Object          object.Ref
	ResourceVersion string
	Action          Action
	// Why is empty when the object can be made again.
	Why Why
	// File, Size and SHA256 (hexadecimal) are empty when it cannot.
	File   string
	Size   int64
	SHA256 string
}

// Restorable reports whether the backup has the bytes of the object.
func (e *Entry) Restorable() bool { return e.Why == "" }

// ErrUnsealed says that a backup was not finished. No request was sent on the
// strength of it: there is nothing to undo.
var ErrUnsealed = errors.New("the backup was never finished, so no request was sent")

// ErrUnknownCluster says that the UID of the cluster is not known: that of the backup, or
// that of the cluster which it is compared with. It is neither the same nor another one.
var ErrUnknownCluster = errors.New("the backup and the cluster cannot be compared: the uid of namespace kube-system is not known of both")

// ErrNotSaved says that a request would destroy a version of an object that the
// backup does not have.
var ErrNotSaved = errors.New("the backup does not have this version of the object")

// DamageError says that a backup is not what was written.
type DamageError = private.DamageError

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// directoryName is the name of a new backup. It has nothing of a cluster in it.
func (h *Head) directoryName() (string, error) {
	if !digestForm.MatchString(h.PlanDigest) {
		return "", fmt.Errorf("plan digest %q is not of the form sha256:<64 hexadecimal digits>", h.PlanDigest)
	}
	if h.Created.IsZero() {
		return "", errors.New("a backup needs the time of its creation")
	}
	return h.Created.UTC().Format("20060102T150405Z") + "-" + h.PlanDigest[len("sha256:"):][:8], nil
}
