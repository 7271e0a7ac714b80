package restore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// seen is an object as kubectl shows it.
type seen struct {
	metav1.PartialObjectMetadata
	raw []byte
}

// objects are by kind, group, namespace and name.
type objects map[string]*seen

func (o objects) keys() []string { return slices.Sorted(maps.Keys(o)) }

func uidOf(text string) types.UID { return types.UID(text) }

func keyOf(apiVersion, kind, namespace, name string) string {
	group, _, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		group = ""
	}
	return kind + "." + group + " " + namespace + "/" + name
}

func (o objects) add(s *scene, list []byte) {
	s.Helper()
	var answer struct {
		Items []json.RawMessage `json:"items"`
	}
	s.check(json.Unmarshal(list, &answer))
	for _, raw := range answer.Items {
		x := &seen{raw: raw}
		s.check(json.Unmarshal(raw, &x.PartialObjectMetadata))
		o[keyOf(x.APIVersion, x.Kind, x.Namespace, x.Name)] = x
	}
}

// inNamespace is all that kubectl finds in a namespace, and the namespace itself.
func (s *scene) inNamespace(name string) objects {
	s.Helper()
	kinds := strings.Fields(s.kubectl("", "api-resources", "--namespaced", "--verbs=list,create", "-o", "name"))
	all := objects{}
	all.add(s, []byte(s.kubectl("", "get", strings.Join(kinds, ","), "-n", name, "-o", "json", "--show-managed-fields")))
	maps.Copy(all, s.named("namespaces", name))
	return all
}

// named are the objects of a resource by name, or all of them.
func (s *scene) named(resource string, names ...string) objects {
	s.Helper()
	all := objects{}
	all.add(s, []byte(s.kubectl("", "get", resource, "-A", "-o", "json")))
	maps.DeleteFunc(all, func(_ string, x *seen) bool { return len(names) > 0 && !slices.Contains(names, x.Name) })
	return all
}

// back fails unless every object that was there is there again, equal in everything
// but what the report of the undo names: objects that were left, with a reason, and
// fields and references that were left out. It waits, for controllers write, too.
func (s *scene) back(before objects, u *report.Undo, now func() objects) {
	s.Helper()
	var wrong []string
	err := cluster.Await(s.ctx, "everything is back", func(context.Context) (bool, error) {
		wrong = differences(before, now(), u)
		return len(wrong) == 0, nil
	})
	if err != nil {
		s.Errorf("%v:\n%s", err, strings.Join(wrong, "\n"))
	}
}

// differences are what an undo has neither given back nor named.
func differences(before, after objects, u *report.Undo) (wrong []string) {
	left, steps := map[string]report.UndoSkip{}, map[string]report.UndoStep{}
	for _, x := range u.Skipped {
		left[keyOf(x.Object.APIVersion, x.Object.Kind, x.Object.Namespace, x.Object.Name)] = x
	}
	for _, x := range u.Steps {
		if x.Verb == "Create" {
			steps[keyOf(x.Object.APIVersion, x.Object.Kind, x.Object.Namespace, x.Object.Name)] = x
		}
	}
	for _, key := range before.keys() {
		step, planned := steps[key]
		if skip, ok := left[key]; ok || !planned {
			if !ok || skip.Message == "" {
				wrong = append(wrong, key+": neither made nor named")
			}
			continue
		}
		now := after[key]
		if now == nil {
			wrong = append(wrong, key+": it is not there")
			continue
		}
		if diff := cmp.Diff(normal(before[key], &step), normal(now, &step)); diff != "" {
			wrong = append(wrong, key+": -before +now\n"+diff)
		}
		wrong = append(wrong, dangling(key, now, after)...)
	}
	return wrong
}

// dangling are the references of an object to what is not there: the collector would
// delete it.
func dangling(key string, o *seen, among objects) (wrong []string) {
	for _, ref := range o.OwnerReferences {
		owner := among[keyOf(ref.APIVersion, ref.Kind, o.Namespace, ref.Name)]
		if owner == nil {
			owner = among[keyOf(ref.APIVersion, ref.Kind, "", ref.Name)]
		}
		if owner == nil || owner.UID != ref.UID {
			wrong = append(wrong, fmt.Sprintf("%s: refers to %s %s, uid %s, which is not there", key, ref.Kind, ref.Name, ref.UID))
		}
	}
	return wrong
}

// of everybody's metadata these are the server's own.
var serversOwn = []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "deletionTimestamp", "deletionGracePeriodSeconds"}

// normal is what has to be equal of an object: without what the server writes into
// every object, what the report names as left out, and the uids of owners.
func normal(o *seen, step *report.UndoStep) map[string]any {
	d := json.NewDecoder(bytes.NewReader(o.raw))
	d.UseNumber()
	var content map[string]any
	if err := d.Decode(&content); err != nil {
		panic(err)
	}
	metadata, _ := content["metadata"].(map[string]any)
	for _, field := range serversOwn {
		delete(metadata, field)
	}
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		if delete(annotations, backup.Annotation); len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	lost := map[string]bool{}
	for _, d := range step.Dropped {
		lost[d.Owner.Kind+" "+d.Owner.Name] = true
	}
	if refs, ok := metadata["ownerReferences"].([]any); ok {
		var kept []string
		for _, entry := range refs {
			ref, _ := entry.(map[string]any)
			delete(ref, "uid")
			if !lost[fmt.Sprintf("%v %v", ref["kind"], ref["name"])] {
				kept = append(kept, fmt.Sprint(ref))
			}
		}
		slices.Sort(kept)
		metadata["ownerReferences"] = kept
	}
	for _, field := range step.Stripped {
		without(content, strings.Split(field, "."))
	}
	return content
}

// without removes a field that the report names; keys of annotations and labels have
// dots in them.
func without(content map[string]any, path []string) {
	for i := range path {
		if i == len(path)-1 {
			break
		}
		switch below := content[path[0]].(type) {
		case map[string]any:
			if rest := strings.Join(path[1:], "."); below[rest] != nil {
				delete(below, rest)
				if len(below) == 0 {
					delete(content, path[0])
				}
				return
			}
			without(below, path[1:])
			if len(below) == 0 {
				delete(content, path[0])
			}
		case []any:
			for _, entry := range below {
				if m, ok := entry.(map[string]any); ok {
					without(m, path[1:])
				}
			}
		}
		return
	}
	delete(content, path[0])
}
