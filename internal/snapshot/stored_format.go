package snapshot

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// formatVersion is the version of our own format. It is incremented when an older reader would
// misunderstand a newer file; additions that it may ignore don't count.
//
// Since version 2, lines of evidence follow the objects.
const (
	formatVersion     = 2
	firstWithEvidence = 2
)

// formatMark is the beginning of every file in our own format.
const formatMark = `{"kubectlGCSnapshot":`

type storedHeader struct {
	Format  int `json:"kubectlGCSnapshot"`
	Objects int `json:"objects"`
	// Evidence is the number of lines of evidence after the objects.
	Evidence int `json:"evidence,omitzero"`
	// EvidenceUnread is true if no evidence was read when the snapshot was taken.
	EvidenceUnread bool `json:"evidenceUnread,omitzero"`
	// MissingIsAbsent is true if the user vouched for that when the snapshot was taken.
	MissingIsAbsent bool              `json:"missingIsAbsent,omitzero"`
	Source          storedSource      `json:"source"`
	Types           [][2]string       `json:"types"`
	Coverage        storedCoverage    `json:"coverage"`
	Gaps            []Gap             `json:"gaps"`
	Problems        []Problem         `json:"problems"`
	Resources       []object.Resource `json:"resources"`
}

type storedSource struct {
	Files             []string `json:"files"`
	KubernetesVersion string   `json:"kubernetesVersion,omitzero"`
	// Least, Most and From are missing in older files: then they are unknown.
	Least      int               `json:"leastMinor,omitzero"`
	Most       int               `json:"mostMinor,omitzero"`
	From       []VersionEvidence `json:"versionFrom,omitempty"`
	TakenAt    string            `json:"takenAt,omitzero"`
	ClusterUID types.UID         `json:"clusterUID,omitzero"`
	Discovered bool              `json:"discovered,omitzero"`
	Ignored    int               `json:"ignored,omitzero"`
	// Moment and Revision are missing in older files.
	Moment   int64 `json:"moment,omitzero"`
	Revision int64 `json:"revision,omitzero"`
}

func storedSourceOf(s Source) storedSource {
	return storedSource{
		Files: s.Files, KubernetesVersion: s.KubernetesVersion, TakenAt: s.TakenAt, ClusterUID: s.ClusterUID,
		Discovered: s.Discovered, Ignored: s.Ignored,
		Revision: s.Revision, Least: s.VersionBounds.Least, Most: s.VersionBounds.Most, From: s.VersionBounds.From,
	}
}

func (s storedSource) source() Source {
	return Source{
		Files: s.Files, KubernetesVersion: s.KubernetesVersion, TakenAt: s.TakenAt, ClusterUID: s.ClusterUID,
		Discovered: s.Discovered, Ignored: s.Ignored,
		Revision: s.Revision, VersionBounds: Version{Least: s.Least, Most: s.Most, From: s.From},
	}
}

type storedCoverage struct {
	Everything bool          `json:"everything,omitzero"`
	Elsewhere  string        `json:"elsewhere,omitzero"`
	Places     []storedPlace `json:"places"`
}

type storedPlace struct {
	Group      string            `json:"group,omitzero"`
	Resource   string            `json:"resource"`
	Everywhere bool              `json:"everywhere,omitzero"`
	Namespaces []string          `json:"namespaces,omitempty"`
	Failures   map[string]string `json:"failures,omitempty"`
}

// StoredRef is a reference to an object in our own format.
type StoredRef struct {
	APIVersion string    `json:"apiVersion,omitzero"`
	Kind       string    `json:"kind,omitzero"`
	Namespace  string    `json:"namespace,omitzero"`
	Name       string    `json:"name,omitzero"`
	UID        types.UID `json:"uid,omitzero"`
}

// storedObject is one object. Its keys are short because there may be millions.
type storedObject struct {
	// Type is an index into the types of the header.
	Type            int           `json:"t"`
	Namespace       string        `json:"s,omitzero"`
	Name            string        `json:"n,omitzero"`
	UID             types.UID     `json:"u,omitzero"`
	ResourceVersion string        `json:"v,omitzero"`
	Owners          []storedOwner `json:"o,omitempty"`
	Labels          object.Labels `json:"l,omitzero"`
	Created         int64         `json:"c,omitzero"`
	Generation      int64         `json:"g,omitzero"`
	storedLifecycle
}

// storedLifecycle is the end of an object's line, which most objects share with others.
type storedLifecycle struct {
	Finalizers        []string `json:"f,omitempty"`
	DeletionTimestamp int64    `json:"d,omitzero"`
	GracePeriod       *int64   `json:"p,omitzero"`
	// Protection is missing in older files. Therefore code that deletes objects never relies on it
	// from a file.
	Protection object.Protection `json:"k,omitzero"`
	// Revision and some of the facts are missing in older files: then they are unknown. A missing Wave
	// counts as 0.
	Revision uint32 `json:"r,omitzero"`
	Tracker  string `json:"a,omitzero"`
	Wave     int32  `json:"w,omitzero"`
	object.StoredFacts
}

type storedOwner struct {
	APIVersion         string      `json:"a"`
	Kind               string      `json:"k"`
	Name               string      `json:"n"`
	UID                types.UID   `json:"u"`
	Controller         object.Flag `json:"c,omitzero"`
	BlockOwnerDeletion object.Flag `json:"b,omitzero"`
}

// storedTrailer is the last line; a file without it is truncated.
type storedTrailer struct {
	Objects int    `json:"end"`
	Hash    string `json:"sha256"`
}

// take fills s with an object, reusing the list of owners.
func (s *storedObject) take(o *object.Object, typeIndex int) {
	owners := s.Owners[:0]
	for _, owner := range o.Owners {
		owners = append(owners, storedOwner(owner))
	}
	*s = storedObject{
		Type: typeIndex, Namespace: o.Namespace, Name: o.Name, UID: o.UID,
		ResourceVersion: o.ResourceVersion, Owners: owners, Labels: o.Labels, Created: o.Created, Generation: o.Generation,
		storedLifecycle: storedLifecycle{
			Finalizers: o.Finalizers(), DeletionTimestamp: o.DeletionTimestamp(), GracePeriod: o.GracePeriod(),
			Protection: o.Protection(), Revision: o.Revision(), Tracker: o.Tracker(), Wave: int32(o.Wave()), StoredFacts: object.StoredFactsOf(o),
		},
	}
}

// object returns the stored object, with repeated strings interned.
func (s *storedObject) object(t typeName, intern *manifest.Interner) *object.Object {
	o := &object.Object{
		Ref: object.Ref{APIVersion: t.apiVersion, Kind: t.kind,
			Namespace: intern.String(s.Namespace), Name: s.Name, UID: s.UID},
		ResourceVersion: s.ResourceVersion,
		Labels:          object.Labels(intern.String(string(s.Labels))),
		Created:         s.Created, Generation: s.Generation,
	}
	if len(s.Owners) > 0 {
		o.Owners = make([]object.OwnerReference, len(s.Owners))
	}
	for i, owner := range s.Owners {
		owner.APIVersion, owner.Kind = intern.String(owner.APIVersion), intern.String(owner.Kind)
		owner.Name, owner.UID = intern.String(owner.Name), types.UID(intern.String(string(owner.UID)))
		o.Owners[i] = object.OwnerReference(owner)
	}
	o.Lifecycle = s.lifecycle(intern)
	return o
}

func (s *storedLifecycle) lifecycle(intern *manifest.Interner) *object.Lifecycle {
	facts := s.Facts()
	if len(s.Finalizers) == 0 && s.DeletionTimestamp == 0 && s.GracePeriod == nil && s.Protection == 0 && s.Revision == 0 && s.Wave == 0 && s.Tracker == "" && facts == nil {
		return nil
	}
	for i, f := range s.Finalizers {
		s.Finalizers[i] = intern.String(f)
	}
	return &object.Lifecycle{
		DeletionTimestamp: s.DeletionTimestamp, GracePeriod: s.GracePeriod, Finalizers: s.Finalizers, Protection: s.Protection,
		Revision: s.Revision, Tracker: intern.String(s.Tracker), Wave: s.Wave, Facts: facts,
	}
}

// StoredObject is one object in our own format, with its kind: for files that are not a whole
// snapshot.
type StoredObject struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Rest       storedObject `json:"rest"`
}

// StoreObject returns the stored form of an object.
func StoreObject(o *object.Object) *StoredObject {
	s := &StoredObject{APIVersion: o.APIVersion, Kind: o.Kind}
	s.Rest.take(o, 0)
	return s
}

// Object returns the stored object, with repeated strings interned.
func (s *StoredObject) Object(intern *manifest.Interner) *object.Object {
	return s.Rest.object(typeName{intern.String(s.APIVersion), intern.String(s.Kind)}, intern)
}
