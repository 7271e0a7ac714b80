package object

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// HelmRecordPrefix is the prefix of the names of the Secrets and ConfigMaps that record the revisions
// of Helm releases: sh.helm.release.v1.web.v3 records revision 3 of web.
//
// Source: helm, pkg/storage/storage.go makeKey.
const HelmRecordPrefix = "sh.helm.release.v1."

// HelmRecordOf returns the release and the revision that an object records. ok is false for any other
// object. A record with a name of another form has no revision.
//
// Source: helm, pkg/storage/driver/secrets.go newSecretsObject; cfgmaps.go newConfigMapsObject.
func HelmRecordOf(o *Object) (name string, revision int64, ok bool) {
	if !o.Is(Secret) && !o.Is(ConfigMap) || o.Labels.Get("owner") != "helm" {
		return "", 0, false
	}
	name = o.Labels.Get("name")
	version, ok := strings.CutPrefix(o.Name, HelmRecordPrefix+name+".v")
	if revision, err := strconv.ParseInt(version, 10, 64); ok && err == nil && revision > 0 {
		return name, revision, true
	}
	return name, 0, name != ""
}

// HelmRelease returns what a record of a Helm release says; nil for any other object, for a record of
// a superseded revision, or if the dump lacks its data.
func (o *Object) HelmRelease() *HelmReleaseFacts { return factsAs[*HelmReleaseFacts](o) }

// HelmReleaseFacts are the names in a record of a Helm release, which is one revision of it. A record
// also has values, templates and contents of objects. None of them is kept.
type HelmReleaseFacts struct {
	Name      string `json:"name,omitzero"`
	Namespace string `json:"namespace,omitzero"`
	Revision  int64  `json:"revision,omitzero"`
	// Status is deployed, failed, uninstalled, …
	Status string `json:"status,omitzero"`
	// Chart is the name of the chart with its version: web-1.2.3.
	Chart string `json:"chart,omitzero"`
	// Objects are those of the manifest, in the order in which Helm deletes them.
	Objects []HelmObject `json:"objects,omitempty"`
	// Hooks are the objects of hooks, in the order in which they run.
	Hooks []HelmHook `json:"hooks,omitempty"`
	// CRDs is true if the directory crds of the chart has files. Helm never deletes these CRDs.
	CRDs bool `json:"crds,omitzero"`
	// Unread is why the other fields may lack something, for people. Empty if they are complete.
	Unread string `json:"unread,omitzero"`
}

// HelmObject is an object in the manifest of a Helm release. One without a namespace there has that
// of the release, whether its kind is namespaced or not.
type HelmObject struct {
	APIVersion string `json:"v"`
	Kind       string `json:"k"`
	Namespace  string `json:"s,omitzero"`
	Name       string `json:"n"`
	// Keeps is true if the manifest asks Helm not to delete it, by helm.sh/resource-policy.
	Keeps bool `json:"keep,omitzero"`
}

// Coordinates returns the coordinates of the object for a release in a namespace.
func (o *HelmObject) Coordinates(release string) Coordinates {
	return Coordinates{Group: GroupOf(o.APIVersion), Kind: o.Kind, Namespace: cmp.Or(o.Namespace, release), Name: o.Name}
}

// HelmHook is an object that Helm creates at an event.
type HelmHook struct {
	HelmObject
	// Events are pre-delete, post-install, …
	Events []string `json:"events,omitempty"`
	// Weight orders the hooks of an event.
	Weight int `json:"weight,omitzero"`
	// DeletePolicies say when Helm deletes it: before-hook-creation, hook-succeeded, hook-failed.
	DeletePolicies []string `json:"policies,omitempty"`
}

// Deletes reports whether a delete policy of the hook has the name.
func (h *HelmHook) Deletes(policy string) bool { return slices.Contains(h.DeletePolicies, policy) }

func (f *HelmReleaseFacts) store(s *StoredFacts) { s.HelmRelease = f }
