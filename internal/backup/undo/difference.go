package undo

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Difference is a field of an object that exists again whose value is not the saved one.
type Difference struct {
	// Path is where the field is: spec.replicas, data["app.conf"], spec.ports[0].port.
	Path string
	// Saved and Now are its values; nil where the object has none.
	Saved, Now any
}

// ignored are annotations that controllers of Kubernetes write about their own work.
//
// Upstream: pkg/controller/deployment/util/deployment_util.go RevisionAnnotation.
// Upstream: component-helpers/storage/volume/pv_helpers.go AnnBetaStorageProvisioner, AnnStorageProvisioner.
var ignored = []string{
	Annotation, "deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation",
	"volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-provisioner",
}

// tokenVolume is how the names of the volumes begin that the server adds to pods.
//
// Upstream: plugin/pkg/admission/serviceaccount/admission.go ServiceAccountVolumeName.
const tokenVolume = "kube-api-access-"

// intended is a copy of what people and controllers wish in an object: without its status,
// what the server or a controller of Kubernetes sets by itself. Of its finalizers and references only
// missing ones count. Of two objects of one name
// these are compared.
func intended(ref object.Ref, content map[string]any) map[string]any {
	n := node{Saved: Saved{Object: ref}, content: runtime.DeepCopyJSON(content)}
	for _, field := range serverFields {
		remove(n.content, "metadata", field)
	}
	for _, path := range [][]string{
		{"apiVersion"}, {"kind"}, {"status"}, {"metadata", "name"}, {"metadata", "namespace"}, {"metadata", "generateName"}, {"metadata", "finalizers"},
	} {
		remove(n.content, path...)
	}
	for _, a := range ignored {
		remove(n.content, "metadata", "annotations", a)
	}
	n.stripKind()
	switch {
	case n.Object.Is(object.Service):
		for _, field := range addresses {
			n.dropAddress(field)
		}
	case n.Object.Is(object.ServiceAccount):
		remove(n.content, "secrets") // of generated tokens
	case n.Object.Is(object.Pod):
		renameTokens(n.content)
	case n.Object.Group() == "rbac.authorization.k8s.io" && at(n.content, "aggregationRule") != nil:
		remove(n.content, "rules") // a controller adds them up
	}
	return n.content
}

// renameTokens takes the random end off the names of the volumes that the server adds to pods.
func renameTokens(value any) {
	switch v := value.(type) {
	case map[string]any:
		if strings.HasPrefix(text(v, "name"), tokenVolume) {
			v["name"] = tokenVolume
		}
		for _, below := range v {
			renameTokens(below)
		}
	case []any:
		for _, below := range v {
			renameTokens(below)
		}
	}
}

// differences are the fields in which two values differ, in the order of their paths.
// Lists of one length are compared entry by entry. A field without content is one that is not
// there.
func differences(path string, saved, now any) []Difference {
	if empty(saved) && empty(now) {
		return nil
	}
	if a, b, both := asMaps(saved, now); both {
		var all []Difference
		for _, key := range keys(a, b) {
			all = append(all, differences(below(path, key), a[key], b[key])...)
		}
		return all
	}
	a, isList := saved.([]any)
	b, areLists := now.([]any)
	if isList && areLists && len(a) == len(b) {
		var all []Difference
		for i := range a {
			all = append(all, differences(path+"["+strconv.Itoa(i)+"]", a[i], b[i])...)
		}
		return all
	}
	if reflect.DeepEqual(saved, now) {
		return nil
	}
	return []Difference{{Path: path, Saved: saved, Now: now}}
}

// overwriting is a merge patch that gives fields their saved values, and takes away those that the
// saved object did not have. It has no keys if nothing differs. Such a patch replaces lists as
// wholes.
func overwriting(saved, now map[string]any) map[string]any {
	patch := map[string]any{}
	for _, key := range keys(saved, now) {
		a, b, both := asMaps(saved[key], now[key])
		switch {
		case both:
			if deeper := overwriting(a, b); len(deeper) > 0 {
				patch[key] = deeper
			}
		case len(differences(key, saved[key], now[key])) == 0:
		case empty(saved[key]):
			patch[key] = nil
		default:
			patch[key] = saved[key]
		}
	}
	return patch
}

// asMaps are two values as maps, if both are. What is not there is an empty one.
func asMaps(a, b any) (x, y map[string]any, both bool) {
	x, is := a.(map[string]any)
	y, areBoth := b.(map[string]any)
	return x, y, (is || a == nil) && (areBoth || b == nil)
}

func keys(a, b map[string]any) []string {
	all := slices.Collect(maps.Keys(a))
	for key := range b {
		if _, there := a[key]; !there {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all
}

// below is the path of a key.
func below(path, key string) string {
	switch {
	case strings.ContainsAny(key, ".[]/"):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	default:
		return path + "." + key
	}
}

// Differs compares the saved object of a step with one that has its name, as the server sends it.
func (s *Step) Differs(raw []byte) ([]Difference, error) {
	now, err := ContentOf(raw)
	if err != nil {
		return nil, err
	}
	return differences("", intended(s.Object, s.content), intended(s.Object, now)), nil
}

// OverwriteOf is what an Overwrite or Secrets step sends to an object as it is now: a merge patch under its
// UID and resourceVersion. Other tells that the object differs in other ways than were planned.
func (s *Step) OverwriteOf(m *Mapping, live *object.Object, raw []byte) (patch []byte, other bool, err error) {
	now, err := ContentOf(raw)
	if err != nil {
		return nil, false, err
	}
	if s.Verb == Secrets {
		patch, err = s.secretsAdded(live, now)
		return patch, false, err
	}
	is := intended(s.Object, now)
	if d := differences("", s.content, is); len(d)+len(ofContent(s.Differences)) > 0 && !reflect.DeepEqual(d, ofContent(s.Differences)) {
		return nil, true, nil
	}
	content := overwriting(s.content, is)
	metadata, _ := content["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
		content["metadata"] = metadata
	}
	if err := s.lacking(m, live, metadata); err != nil {
		return nil, false, err
	}
	metadata["uid"], metadata["resourceVersion"] = live.UID, live.ResourceVersion
	patch, err = json.Marshal(content)
	return patch, false, err
}

// Now is the object of an Overwrite or Secrets step as it was compared, as the server sent it.
func (s *Step) Now() []byte { return s.now }

// ContentOf decodes an object. Numbers keep their digits.
func ContentOf(raw []byte) (content map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&content)
	return content, err
}
