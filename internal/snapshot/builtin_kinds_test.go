package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// groupList returns the list of API groups with these versions, the first of a group preferred.
func groupList(versions ...string) string {
	var groups []string
	for _, gv := range versions {
		group, version := object.SplitAPIVersion(gv)
		groups = append(groups, fmt.Sprintf(`{"name":%q,"versions":[{"groupVersion":%q,"version":%q}]}`, group, gv, version))
	}
	return `{"kind":"APIGroupList","apiVersion":"v1","groups":[` + strings.Join(groups, ",") + `]}`
}

func items(apiVersion, kind string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":%q,"kind":%q,"metadata":{"name":"a","namespace":"shop","uid":"1"}}]}`, apiVersion, kind)
}

// TestBuiltinGroupsAreNotCustom: object.MayBeCustom knows the groups of all kinds that Kubernetes serves.
func TestBuiltinGroupsAreNotCustom(t *testing.T) {
	groups := map[string]bool{}
	for _, r := range BuiltinResources().All() {
		groups[r.Group] = true
	}
	for _, v := range olderVersions {
		groups[object.GroupOf(v.apiVersion)] = true
	}
	for group := range groups {
		if object.MayBeCustom(group) {
			t.Errorf("%s counts as custom", group)
		}
	}
}

// TestVersionsAreNotInvented: an object gets a version that its server serves, by default the one
// in which it was read. The version of the rules is used only if nothing is known.
func TestVersionsAreNotInvented(t *testing.T) {
	const (
		bare  = `[{"metadata":{"name":"a","namespace":"shop","uid":"1"}}]`
		v110  = `{"major":"1","minor":"10","gitVersion":"v1.10.0"}`
		v114  = `{"major":"1","minor":"14","gitVersion":"v1.14.6"}`
		node  = `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"n"},"status":{"nodeInfo":{"kubeletVersion":"v1.13.3"}}}`
		core  = `{"kind":"APIResourceList","groupVersion":"v1","resources":[]}`
		beta  = `{"kind":"APIResourceList","groupVersion":"batch/v1beta1","resources":[{"name":"cronjobs","kind":"CronJob","namespaced":true,"verbs":["delete","list","watch"]}]}`
		at    = "resources/ns/shop/"
		files = "items without kind"
	)
	old := groupList("extensions/v1beta1", "apps/v1", "batch/v1", "batch/v1beta1", "policy/v1beta1", "networking.k8s.io/v1", "autoscaling/v1", "autoscaling/v2beta1")
	for _, tt := range []struct {
		name  string
		files []txtar.File
		want  string
	}{
		{"a CronJob of 1.20", []txtar.File{{Name: "a.json", Data: []byte(items("batch/v1beta1", "CronJob"))}}, "batch/v1beta1"},
		{"a CronJob of today", []txtar.File{{Name: "a.json", Data: []byte(items("batch/v1", "CronJob"))}}, "batch/v1"},
		{"in two versions", []txtar.File{{Name: "a.json", Data: []byte(items("batch/v1beta1", "CronJob"))}, {Name: "b.json", Data: []byte(items("batch/v1", "CronJob"))}}, "batch/v1"},
		{"a PodDisruptionBudget", []txtar.File{{Name: "a.json", Data: []byte(items("policy/v1beta1", "PodDisruptionBudget"))}}, "policy/v1beta1"},
		{"an autoscaler in the oldest version", []txtar.File{{Name: "a.json", Data: []byte(items("autoscaling/v1", "HorizontalPodAutoscaler"))}}, "autoscaling/v1"},
		{"a Deployment under its old name", []txtar.File{{Name: "a.json", Data: []byte(items("extensions/v1beta1", "Deployment"))}}, "apps/v1"},
		{"an Ingress under its old name, where nothing says that the new one is served", []txtar.File{{Name: "a.json", Data: []byte(items("extensions/v1beta1", "Ingress"))}}, "extensions/v1beta1"},
		{"and where the release says so", []txtar.File{{Name: "a.json", Data: []byte(items("extensions/v1beta1", "Ingress"))}, {Name: "serverversion.json", Data: []byte(v114)}}, "networking.k8s.io/v1beta1"},
		{"and where it says the opposite", []txtar.File{{Name: "a.json", Data: []byte(items("extensions/v1beta1", "Ingress"))}, {Name: "serverversion.json", Data: []byte(v110)}}, "extensions/v1beta1"},
		{files + ", the version in the path", []txtar.File{{Name: at + "batch_v1beta1_cronjobs.json", Data: []byte(bare)}}, "batch/v1beta1"},
		{files + ", nothing known", []txtar.File{{Name: at + "CronJobs.json", Data: []byte(bare)}}, "batch/v1"},
		{files + ", groups known", []txtar.File{{Name: at + "PodDisruptionBudgets.json", Data: []byte(bare)}, {Name: "servergroups.json", Data: []byte(old)}}, "policy/v1beta1"},
		{files + ", the version came later", []txtar.File{{Name: at + "CronJobs.json", Data: []byte(bare)}, {Name: "servergroups.json", Data: []byte(old)}, {Name: "serverversion.json", Data: []byte(v110)}}, "batch/v1beta1"},
		{files + ", the group came later", []txtar.File{{Name: at + "Ingresses.json", Data: []byte(bare)}, {Name: "servergroups.json", Data: []byte(old)}, {Name: "serverversion.json", Data: []byte(v110)}}, "extensions/v1beta1"},
		{files + ", the release from a kubelet", []txtar.File{{Name: at + "CronJobs.json", Data: []byte(bare)}, {Name: "nodes.json", Data: []byte(node)}}, "batch/v1beta1"},
		{files + ", resources known", []txtar.File{{Name: at + "CronJobs.json", Data: []byte(bare)}, {Name: "discovery/v1.json", Data: []byte(core)}, {Name: "discovery/batch.json", Data: []byte(beta)}}, "batch/v1beta1"},
		{files + ", of apps", []txtar.File{{Name: at + "Deployments.json", Data: []byte(bare)}, {Name: "servergroups.json", Data: []byte(old)}}, "apps/v1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 {
				s, err := readBytes(tarOf(t, tt.files), Options{})
				if err != nil {
					t.Fatal(err)
				}
				i := slices.IndexFunc(s.Objects, func(o *object.Object) bool { return o.Name == "a" })
				if got := s.Objects[i].APIVersion; got != tt.want {
					t.Errorf("%s, not %s", got, tt.want)
				}
				if _, err := s.Resources.For(s.Objects[i].APIVersion, s.Objects[i].Kind); err != nil {
					t.Error(err)
				}
				slices.Reverse(tt.files)
			}
		})
	}
}

// TestKindInItsVersion: an object that a rule looks up is found in the version that the server
// serves.
func TestKindInItsVersion(t *testing.T) {
	const definition = `{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"CustomResourceDefinition","metadata":{"name":"carts.example.com","uid":"1"},
	 "spec":{"group":"example.com","version":"v1","scope":"Namespaced","names":{"kind":"Cart","plural":"carts"}}}`
	s, err := readBytes([]byte(definition), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if o := s.FindKind(object.CRD, "", "carts.example.com"); o == nil || o.APIVersion != "apiextensions.k8s.io/v1beta1" || o.Definition() == nil {
		t.Errorf("%+v", o)
	}
	if ref := s.RefTo(object.CRD, "", "x"); ref.APIVersion != "apiextensions.k8s.io/v1beta1" {
		t.Error(ref)
	}
}
