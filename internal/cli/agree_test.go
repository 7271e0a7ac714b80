package cli_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestCommandsAgreeOnCases: collect, stuck, explain, check, doctor and dry-run do not contradict
// each other about the same dump, pair by pair. The dumps are the committed examples and, if
// available, cases outside of the repository.
func TestCommandsAgreeOnCases(t *testing.T) {
	dumps, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(dumps) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	read := func(name, dump string) {
		t.Run(name, func(t *testing.T) {
			if !agree(t, dump) {
				t.Fatal("collect does not read it")
			}
		})
	}
	for _, dump := range committedClusters(t) {
		read("whole "+filepath.Base(dump), wholeOf(t, dump))
		dumps = append(dumps, dump)
	}
	for _, dump := range dumps {
		read(filepath.Base(dump), dump)
	}
	var outside []string
	for _, pattern := range []string{"*/*", "*.tar.gz"} {
		more, err := filepath.Glob("../../../shared/data/cases/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		outside = append(outside, more...)
	}
	for _, dump := range outside { // some are refused, or hold no objects
		t.Run(strings.TrimPrefix(dump, "../../../"), func(t *testing.T) { agree(t, dump) })
	}
}

// committedClusters returns the dumps of testdata/agree. deletions.yaml is added twice: with a
// kube-controller-manager that no longer renews its lease, and with a lease of kube-scheduler
// instead.
func committedClusters(t *testing.T) []string {
	t.Helper()
	const deletions, renewed, name = "testdata/agree/deletions.yaml", `leaseDurationSeconds: 15, renewTime: "2026-05-01T12`, "name: kube-controller-manager"
	text, err := os.ReadFile(deletions)
	if err != nil || bytes.Count(text, []byte(renewed)) != 1 || bytes.Count(text, []byte(name)) != 1 {
		t.Fatalf("%s has no lease to change: %v", deletions, err)
	}
	dumps := []string{deletions, "testdata/agree/references.yaml"}
	dir := t.TempDir()
	for file, change := range map[string]*strings.Replacer{
		"manager-stopped.yaml": strings.NewReplacer(renewed, strings.Replace(renewed, "T12", "T10", 1)),
		"no-manager.yaml":      strings.NewReplacer(name, "name: kube-scheduler"),
	} {
		file = filepath.Join(dir, file)
		if err := os.WriteFile(file, []byte(change.Replace(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		dumps = append(dumps, file)
	}
	return dumps
}

// mostDeletes is the number of planned deletes for one dump, in addition to those that explain
// names.
const mostDeletes = 6

// agree runs every command on one dump, and compares the answers. It returns false if collect does
// not read the dump.
func agree(t *testing.T, dump string) bool {
	a := commandAnswers{dump: dump, explained: map[object.Ref]*report.Explanation{}, deletes: map[object.Ref]*report.Plan{}}
	if !documentOf(t, &a.collect, "collect", "--rules=upstream", "--from", dump) {
		return false
	}
	for command, document := range map[string]any{"stuck": &a.stuck, "check": &a.check, "doctor": &a.doctor} {
		if !documentOf(t, document, command, "--from", dump) {
			t.Fatalf("%s refuses what collect reads", command)
		}
	}
	asked := map[object.Ref]bool{}
	for i := range a.collect.Effects {
		asked[a.collect.Effects[i].Object] = true
	}
	for _, f := range slices.Concat(a.stuck.Findings, a.check.Findings, a.doctor.Findings) {
		asked[f.Object] = asked[f.Object] || f.Object.Name != ""
	}
	deletes := 0
	for _, ref := range slices.SortedFunc(maps.Keys(asked), func(a, b object.Ref) int { return strings.Compare(a.FullName(), b.FullName()) }) {
		a.explain(t, ref)
		if deletes < mostDeletes && asked[ref] {
			a.delete(t, ref)
			deletes++
		}
	}
	for _, x := range a.explained {
		for _, taker := range x.TakenBy {
			a.delete(t, taker.Object)
		}
	}
	a.rank(t)
	for _, text := range slices.Compact(slices.Sorted(slices.Values(a.contradictions()))) {
		t.Error(text)
	}
	return true
}

// commandAnswers are the answers of all commands about one dump. Objects with an ambiguous name are
// neither explained nor deleted in a plan.
type commandAnswers struct {
	dump         string
	collect      report.Plan
	stuck, check report.Diagnosis
	doctor       report.Checkup
	explained    map[object.Ref]*report.Explanation
	deletes      map[object.Ref]*report.Plan
	ranks        []*report.Risk
}

func (a *commandAnswers) explain(t *testing.T, ref object.Ref) {
	var x report.Explanation
	if a.explained[ref] == nil && documentOf(t, &x, append(named("explain", ref), "--from", a.dump)...) && x.Object == ref {
		a.explained[ref] = &x
	}
}

func (a *commandAnswers) delete(t *testing.T, ref object.Ref) {
	var p report.Plan
	if a.deletes[ref] == nil && documentOf(t, &p, append(named("dry-run delete", ref), "--from", a.dump)...) {
		a.deletes[ref] = &p
	}
}

// rank reads what risk says of the whole dump and of one namespace, and plans the deletes of the objects that it
// names first.
func (a *commandAnswers) rank(t *testing.T) {
	rank := func(args ...string) *report.Risk {
		var r report.Risk
		if !documentOf(t, &r, append([]string{"risk", "--from", a.dump, "--top", "2"}, args...)...) {
			t.Fatalf("risk refuses what collect reads")
		}
		a.ranks = append(a.ranks, &r)
		for i := range r.Items {
			a.delete(t, r.Items[i].Object)
		}
		return &r
	}
	items := rank().Items
	if i := slices.IndexFunc(items, func(x report.RiskItem) bool { return x.Object.Namespace != "" }); i >= 0 {
		rank("-n", items[i].Object.Namespace)
	}
}

func named(command string, ref object.Ref) []string {
	args := append(strings.Fields(command), object.KubectlKind(ref.APIVersion, ref.Kind), ref.Name)
	if ref.Namespace != "" {
		args = append(args, "-n", ref.Namespace)
	}
	return args
}

// documentOf reads the document that a command prints, and reports whether it prints one.
func documentOf(t *testing.T, document any, args ...string) bool {
	t.Helper()
	var out, errs bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errs}
	if code := cli.Main(t.Context(), append(append([]string{"kubectl-gc"}, args...), "-o", "json"), streams); code > 5 || out.Len() == 0 {
		return false
	}
	if err := json.Unmarshal(out.Bytes(), document); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return true
}

// served are the kinds that the clusters of testdata/agree serve: plural, kind and version, with *
// for a cluster-scoped kind.
const served = `namespaces Namespace v1 *
nodes Node v1 *
configmaps ConfigMap v1
secrets Secret v1
pods Pod v1
persistentvolumeclaims PersistentVolumeClaim v1
persistentvolumes PersistentVolume v1 *
services Service v1
deployments Deployment apps/v1
replicasets ReplicaSet apps/v1
leases Lease coordination.k8s.io/v1
poddisruptionbudgets PodDisruptionBudget policy/v1
customresourcedefinitions CustomResourceDefinition apiextensions.k8s.io/v1 *
apiservices APIService apiregistration.k8s.io/v1 *
roles Role rbac.authorization.k8s.io/v1
rolebindings RoleBinding rbac.authorization.k8s.io/v1
clusterroles ClusterRole rbac.authorization.k8s.io/v1 *
clusterrolebindings ClusterRoleBinding rbac.authorization.k8s.io/v1 *
volumeattachments VolumeAttachment storage.k8s.io/v1 *
validatingwebhookconfigurations ValidatingWebhookConfiguration admissionregistration.k8s.io/v1 *
mutatingwebhookconfigurations MutatingWebhookConfiguration admissionregistration.k8s.io/v1 *
validatingadmissionpolicies ValidatingAdmissionPolicy admissionregistration.k8s.io/v1 *
validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding admissionregistration.k8s.io/v1 *`

// wholeOf writes the objects of a file as a complete dump: all served kinds are known, and there is
// a list of each.
func wholeOf(t *testing.T, dump string) string {
	t.Helper()
	raw, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Items []map[string]any }
	if err := yaml.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, document any) {
		text, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	resources := map[string]*metav1.APIResourceList{}
	groups := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for line := range strings.Lines(served) {
		words := strings.Fields(line)
		plural, kind, version := words[0], words[1], words[2]
		if resources[version] == nil {
			resources[version] = &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: version}
			if group, v, ok := strings.Cut(version, "/"); ok {
				of := metav1.GroupVersionForDiscovery{GroupVersion: version, Version: v}
				groups.Groups = append(groups.Groups, metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{of}, PreferredVersion: of})
			}
		}
		resources[version].APIResources = append(resources[version].APIResources, metav1.APIResource{
			Name: plural, Kind: kind, Namespaced: len(words) == 3, Verbs: metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
		})
		items := []map[string]any{}
		for _, o := range list.Items {
			if o["kind"] == kind && o["apiVersion"] == version {
				items = append(items, o)
			}
		}
		name := plural
		if group, _, ok := strings.Cut(version, "/"); ok {
			name += "." + group
		}
		write(name+".json", map[string]any{"apiVersion": version, "kind": kind + "List", "metadata": map[string]any{"resourceVersion": "200"}, "items": items})
	}
	for version, list := range resources {
		write("discovery/"+strings.ReplaceAll("api"+map[bool]string{true: "s"}[strings.Contains(version, "/")]+"/"+version, "/", "__")+".json", list)
	}
	write("discovery/api.json", metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	write("discovery/apis.json", groups)
	write("discovery/version.json", map[string]string{"major": "1", "minor": "36", "gitVersion": "v1.36.3"})
	return dir
}
