package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
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
	Tool string `json:"tool"`
	// Command is the kind of command: delete, collect, removeFinalizer, undo or lost.
	Command string `json:"command"`
	// PlanDigest is the digest of the confirmed plan: "sha256:" and 64 hexadecimal digits.
	PlanDigest string  `json:"planDigest"`
	Cluster    Cluster `json:"cluster"`
	// Witnesses are objects that the run does not delete, such as the namespaces that it works in.
	// A cluster that has one of them under the same UID is the same cluster. They replace the UID
	// of the cluster for users without permission to read it.
	Witnesses []object.Ref `json:"witnesses,omitempty"`
	// Created is when the run began.
	Created time.Time `json:"created"`
	// Secrets reports whether the bytes of Secrets are kept, too.
	Secrets bool `json:"secrets"`
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
	Object          object.Ref `json:"object"`
	ResourceVersion string     `json:"resourceVersion"`
	Action          Action     `json:"action"`
	// Restorable is true if the backup has the bytes of the object. Otherwise Why says why not.
	Restorable bool `json:"restorable"`
	Why        Why  `json:"why,omitzero"`
	// File, Size and SHA256 (hexadecimal) are zero unless the object can be recreated.
	File   string `json:"file,omitzero"`
	Size   int64  `json:"size,omitzero"`
	SHA256 string `json:"sha256,omitzero"`
}

// ErrUnsealed reports that a backup was never finished. Requests are sent only after it is, so
// there is nothing to undo.
var ErrUnsealed = errors.New("the backup was never finished, so no request was sent")

// ErrUnknownCluster reports that the UID of the backup's cluster or of the current cluster is
// unknown, so they may be the same or different.
var ErrUnknownCluster = errors.New("the backup and the cluster cannot be compared: the uid of namespace kube-system is not known for both")

// ErrNotSaved reports that a request would destroy a version of an object that the backup does not
// contain.
var ErrNotSaved = errors.New("the backup does not have this version of the object")

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

// storedManifest is the content of manifest.json.
type storedManifest struct {
	Schema int `json:"kubectlGCBackup"`
	Head
	Entries []Entry `json:"entries"`
}

// check returns what is wrong with a stored entry; empty for nothing. file is the name that it must
// have if its bytes are kept.
func (e *Entry) check(file string) string {
	switch {
	case e.Action != Deleted && e.Action != Changed:
		return fmt.Sprintf("%s has the unknown action %q", e.Object, e.Action)
	case e.Restorable != (e.Why == ""):
		return fmt.Sprintf("%s says that it is restorable, and why it is not", e.Object)
	case e.Restorable && e.File != file:
		return fmt.Sprintf("%s is in file %q, want %q", e.Object, e.File, file)
	case !e.Restorable && (e.File != "" || e.SHA256 != "" || e.Size != 0):
		return fmt.Sprintf("%s has a file and says why it has none", e.Object)
	}
	return ""
}

// identity holds the identifying fields in the bytes of an object.
type identity struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Namespace       string    `json:"namespace"`
		Name            string    `json:"name"`
		UID             types.UID `json:"uid"`
		ResourceVersion string    `json:"resourceVersion"`
	} `json:"metadata"`
}

// identify returns the resourceVersion in the bytes of an object. It is an error if the bytes
// belong to another object. apiVersion and kind may be missing, as in items of a list.
func identify(ref object.Ref, raw []byte) (resourceVersion string, err error) {
	if len(raw) > maxObject {
		return "", fmt.Errorf("%s: %d bytes, at most %d are kept", ref, len(raw), maxObject)
	}
	var id identity
	if err := json.Unmarshal(raw, &id); err != nil {
		return "", fmt.Errorf("%s: the bytes are not the JSON of an object: %w", ref, err)
	}
	m := &id.Metadata
	for _, f := range []struct{ name, got, want string }{
		{"apiVersion", id.APIVersion, ref.APIVersion}, {"kind", id.Kind, ref.Kind},
		{"metadata.namespace", m.Namespace, ref.Namespace}, {"metadata.name", m.Name, ref.Name},
		{"metadata.uid", string(m.UID), string(ref.UID)},
	} {
		inList := f.got == "" && (f.name == "apiVersion" || f.name == "kind")
		if f.got != f.want && !inList {
			return "", fmt.Errorf("%s: the bytes have %s %q, want %q", ref, f.name, f.got, f.want)
		}
	}
	if m.UID == "" || m.ResourceVersion == "" {
		return "", fmt.Errorf("%s: the bytes have no uid or no resourceVersion", ref)
	}
	return m.ResourceVersion, nil
}
