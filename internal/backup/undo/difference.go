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

// Difference is a field with different values in the saved object and the one that exists again.
type Difference struct {
	// Path is the path of the field: spec.replicas, data["app.conf"], spec.ports[0].port.
	Path string
	// Saved and Now are its values; nil if the object has none.
	Saved, Now any
}

// ignored are annotations that built-in controllers write about their own work.
//
// Upstream: pkg/controller/deployment/util/deployment_util.go RevisionAnnotation.
// Upstream: component-helpers/storage/volume/pv_helpers.go AnnBetaStorageProvisioner, AnnStorageProvisioner.
var ignored = []string{
	Annotation, "deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation",
	"volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-provisioner",
}

// tokenVolume is the name prefix of the volumes that the server adds to pods.
//
// Upstream: plugin/pkg/admission/serviceaccount/admission.go ServiceAccountVolumeName.
const tokenVolume = "kube-api-access-"

// intended returns a copy of an object's desired content, for comparison. It leaves out the status
// and what the server or a built-in controller sets. Missing finalizers and references are compared
// elsewhere.
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
		remove(n.content, "secrets") // generated tokens
	case n.Object.Is(object.Node):
		n.dropConditionTaints()
	case n.Object.Is(object.Pod):
		renameTokens(n.content)
	case n.Object.Group() == "rbac.authorization.k8s.io" && at(n.content, "aggregationRule") != nil:
		remove(n.content, "rules") // aggregated by a controller
	}
	return n.content
}

// conditionTaints are the taints that follow the conditions of a node and spec.unschedulable.
//
// Upstream: pkg/controller/nodelifecycle/node_lifecycle_controller.go nodeConditionToTaintKeyStatusMap.
// Upstream: plugin/pkg/admission/nodetaint/admission.go Plugin.Admit: every new node is not ready.
var conditionTaints = []string{"not-ready", "unreachable", "memory-pressure", "disk-pressure", "pid-pressure", "network-unavailable", "unschedulable"}

func (n *node) dropConditionTaints() {
	taints, _ := at(n.content, "spec", "taints").([]any)
	taints = slices.DeleteFunc(taints, func(t any) bool {
		of, _ := t.(map[string]any)
		key, is := strings.CutPrefix(textAt(of, "key"), "node.kubernetes.io/")
		return is && slices.Contains(conditionTaints, key)
	})
	if spec, ok := n.content["spec"].(map[string]any); ok {
		spec["taints"] = taints
	}
}

// renameTokens removes the random suffix from the names of volumes that the server adds to pods.
func renameTokens(value any) {
	switch v := value.(type) {
	case map[string]any:
		if strings.HasPrefix(textAt(v, "name"), tokenVolume) {
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

// differences returns the fields that differ between two values, ordered by path. Lists of equal
// length are compared entry by entry. An empty field equals a missing one.
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

// overwriting returns a merge patch that restores saved values and removes fields that the saved
// object did not have. It is empty if nothing differs. A merge patch replaces lists as a whole.
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

// asMaps converts two values to maps, if both are maps or nil. A nil value gives an empty map.
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

// below appends a key to a path.
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

// Differs compares the saved object of a step with the server's bytes of the current one.
func (s *Step) Differs(raw []byte) ([]Difference, error) {
	now, err := ContentOf(raw)
	if err != nil {
		return nil, err
	}
	return differences("", intended(s.Object, s.content), intended(s.Object, now)), nil
}

// OverwriteOf returns the merge patch of an Overwrite or Secrets step for the current object, with
// its UID and resourceVersion. other reports that the object differs in other ways than planned.
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

// Now returns the bytes of the object that an Overwrite or Secrets step was compared with.
func (s *Step) Now() []byte { return s.now }

// ContentOf decodes an object. Numbers keep their digits.
func ContentOf(raw []byte) (content map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&content)
	return content, err
}

// An object that exists again differs in these fields if a saved entry is missing. Additional
// entries are ignored.
const (
	ownersField     = "metadata.ownerReferences"
	finalizersField = "metadata.finalizers"
)

// lackFinalizers records the saved finalizers that the existing object lacks. Those of the garbage
// collector are left out: they belonged to the earlier deletion.
func (s *Step) lackFinalizers(saved []string) {
	for _, f := range saved {
		if f != object.Foreground && f != object.Orphan && !s.live.HasFinalizer(f) {
			s.finalizers = append(s.finalizers, f)
		}
	}
	if len(s.finalizers) > 0 {
		s.Differences = append(s.Differences, Difference{Path: finalizersField, Saved: listOf(saved), Now: listOf(s.live.Finalizers())})
	}
}

// compareOwners compares the owner references of an object that exists again with the saved ones. A
// reference counts only if its owner exists or will be created, so all creations must be planned
// before.
func (p *planning) compareOwners(i int) {
	n := &p.nodes[i]
	_, controlled := n.live.Controller()
	var lost []object.OwnerReference
	for _, ref := range n.owners {
		owner, why := p.owner(i, ref)
		uid := ref.UID
		if recreated := p.recreatedOwner(i, ref, why); recreated != "" {
			uid, why = recreated, ""
		}
		if again, ok := p.madeBefore(ref.UID); ok {
			uid = again
		}
		if why == "" && (owner >= 0 || !n.live.RefersTo(uid)) && !(controlled && ref.Controller == object.True) {
			lost = append(lost, ref)
		}
	}
	if len(lost) == 0 {
		return
	}
	p.differs(n, append(n.compared.Differences, Difference{Path: ownersField, Saved: listOf(ownerNames(n.owners)), Now: listOf(ownerNames(n.live.Owners))}))
	if n.step.Verb == Overwrite {
		p.keep(i, lost)
		n.before = nil // every object is created before any is overwritten
	}
}

// lacking adds the missing owner references and finalizers to the metadata of a patch.
func (s *Step) lacking(m *Mapping, live *object.Object, metadata map[string]any) error {
	owners, _, err := m.resolve(s)
	if err != nil {
		return err
	}
	all := slices.Clone(live.Owners)
	for _, ref := range owners {
		if !live.RefersTo(ref.UID) {
			all = append(all, ref)
		}
	}
	if len(all) > len(live.Owners) {
		metadata["ownerReferences"] = ownerBodies(all)
	}
	finalizers := slices.Clone(live.Finalizers())
	for _, f := range s.finalizers {
		if !live.HasFinalizer(f) {
			finalizers = append(finalizers, f)
		}
	}
	if len(finalizers) > len(live.Finalizers()) {
		metadata["finalizers"] = finalizers
	}
	return nil
}

// ofContent returns the differences outside of metadata.
func ofContent(list []Difference) []Difference {
	return slices.DeleteFunc(slices.Clone(list), func(d Difference) bool { return d.Path == ownersField || d.Path == finalizersField })
}

// ownerNames names owners.
func ownerNames(refs []object.OwnerReference) []string {
	var list []string
	for _, ref := range refs {
		list = append(list, ref.Kind+"/"+ref.Name)
	}
	return list
}

// listOf converts strings to a decoded JSON list; nil for none.
func listOf(texts []string) any {
	if len(texts) == 0 {
		return nil
	}
	list := make([]any, len(texts))
	for i, t := range texts {
		list[i] = t
	}
	return list
}
