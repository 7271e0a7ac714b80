package backup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// storedManifest is the content of manifest.json.
type storedManifest struct {
	Schema     int           `json:"kubectlGCBackup"`
	Tool       string        `json:"tool"`
	Command    string        `json:"command"`
	PlanDigest string        `json:"planDigest"`
	Cluster    Cluster       `json:"cluster"`
	Witnesses  []storedRef   `json:"witnesses,omitzero"`
	Created    time.Time     `json:"created"`
	Secrets    bool          `json:"secrets"`
	Entries    []storedEntry `json:"entries"`
}

type storedRef struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Namespace  string    `json:"namespace,omitzero"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
}

type storedEntry struct {
	Object          storedRef `json:"object"`
	ResourceVersion string    `json:"resourceVersion"`
	Action          Action    `json:"action"`
	Restorable      bool      `json:"restorable"`
	Why             Why       `json:"why,omitzero"`
	File            string    `json:"file,omitzero"`
	Size            int64     `json:"size,omitzero"`
	SHA256          string    `json:"sha256,omitzero"`
}

func (e *Entry) stored() storedEntry {
	return storedEntry{
		Object: storedRef(e.Object), ResourceVersion: e.ResourceVersion, Action: e.Action,
		Restorable: e.Restorable(), Why: e.Why, File: e.File, Size: e.Size, SHA256: e.SHA256,
	}
}

// entry converts a stored entry, or returns what is wrong with it. file is the name that it must
// have if its bytes are kept.
func (s *storedEntry) entry(file string) (Entry, string) {
	e := Entry{
		Object: object.Ref(s.Object), ResourceVersion: s.ResourceVersion, Action: s.Action,
		Why: s.Why, File: s.File, Size: s.Size, SHA256: s.SHA256,
	}
	switch {
	case e.Action != Deleted && e.Action != Changed:
		return e, fmt.Sprintf("%s has the unknown action %q", e.Object, e.Action)
	case s.Restorable != e.Restorable():
		return e, fmt.Sprintf("%s says restorable and why it is not", e.Object)
	case e.Restorable() && e.File != file:
		return e, fmt.Sprintf("%s is in file %q, want %q", e.Object, e.File, file)
	case !e.Restorable() && (e.File != "" || e.SHA256 != "" || e.Size != 0):
		return e, fmt.Sprintf("%s has a file and says why it has none", e.Object)
	}
	return e, ""
}

// marshal encodes all files of a backup: no HTML escapes, no newline.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
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
		return "", fmt.Errorf("%s: the bytes are no JSON of an object: %w", ref, err)
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
