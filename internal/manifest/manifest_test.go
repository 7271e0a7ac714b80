package manifest

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

func fixture(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/in/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// web1 is the pod of the fixtures, with all kept fields.
const web1 = "v1 Pod shop/web-1 uid=cf9db8fc-1756-447f-b108-86171cb2dde8 version=17 labels=app|web|tier|| created=1795264461 generation=3" +
	" owner={APIVersion:apps/v1 Kind:ReplicaSet Name:web UID:1ac5b9a2-6bc9-49db-8a46-0698a2e9dc19 Controller:2 BlockOwnerDeletion:2}" +
	" owner={APIVersion:v1 Kind:Node Name:n1 UID:u-2 Controller:1 BlockOwnerDeletion:0}" +
	" finalizers=[example.com/hold orphan] deleted=1795266000 grace=30 pod={n1 Running mirror=true 30 volumes=[]}"

func TestListKeepsWhatDeletionNeeds(t *testing.T) {
	for _, name := range []string{"list.json", "list.yaml"} {
		wantLines(t, fixture(t, name), Options{},
			web1+" in list",
			"v1 Namespace shop uid=u-ns namespace={Phase:Terminating Finalizers:[kubernetes] Outside:[]} in list",
			"v1 Event shop/e uid=u-e in list",
			`list "v1" "List" 3 partial=false`)
	}
}

func TestDefinitionsOfBothVersions(t *testing.T) {
	wantLines(t, fixture(t, "definitions.json"), Options{},
		"apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com uid=u-crd definition={Group:example.com Kind:Widget Plural:widgets Singular:widget ShortNames:[wd] Categories:[all] Namespaced:true Versions:[{Name:v2 Served:true Storage:true} {Name:v1 Served:false Storage:false}] Stored:[] Established:true Terminating:true}",
		"apiextensions.k8s.io/v1beta1 CustomResourceDefinition gadgets.example.com uid=u-old definition={Group:example.com Kind:Gadget Plural:gadgets Singular:gadget ShortNames:[] Categories:[] Namespaced:false Versions:[{Name:v1alpha1 Served:true Storage:true}] Stored:[] Established:false Terminating:false}")
}

// TestLastLineWithoutNewline: a shell's $(…) removes the last newline. A line with a value that
// can't continue is complete nevertheless.
func TestLastLineWithoutNewline(t *testing.T) {
	const uid = "1ac5b9a2-6bc9-49db-8a46-0698a2e9dc19"
	for last, want := range map[string]string{
		"  name: a\n  uid: " + uid:         "v1 Pod a uid=" + uid,
		"  uid: u\n  name: \"a\"":          "v1 Pod a uid=u",
		"  uid: u\n  name: 'a'":            "v1 Pod a uid=u",
		"  name: a\n  finalizers: []":      "v1 Pod a uid=",
		"  uid: u\n  name: a\nspec: {}":    "v1 Pod a uid=u pod={  mirror=false}",
		"  name: a\n  annotations: {}  ":   "v1 Pod a uid=",
		"  name: a\n  resourceVersion: ''": "v1 Pod a uid=",
	} {
		wantLines(t, "apiVersion: v1\nkind: Pod\nmetadata:\n"+last, Options{}, want)
	}
	wantLines(t, "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\nkind: List\nmetadata:\n  resourceVersion: \"\"", Options{},
		"v1 Pod a uid= in list", `list "v1" "List" 1 partial=false`)
}

// TestFlattenedListTakesItsKindFromItsLink: in the output of kubectl cluster-info dump 1.13 and
// older only the link tells the kind of the items.
func TestFlattenedListTakesItsKindFromItsLink(t *testing.T) {
	const list = `{"selfLink":"/api/v1/nodes","resourceVersion":"7","Items":[{"name":"n1","uid":"1"}]}`
	linked := func(path string) (string, string) {
		if path != "/api/v1/nodes" {
			return "", ""
		}
		return "v1", "Node"
	}
	wantLines(t, list, Options{Linked: linked}, "v1 Node n1 uid=1 in list", `list "v1" "NodeList" 1 partial=false`)
	wantLines(t, list, Options{Linked: linked, APIVersion: "v1", Kind: "Pod"}, "v1 Pod n1 uid=1 in list", `list "" "" 1 partial=false`)
	wantProblem(t, strings.Replace(list, "nodes", "unknown", 1), Options{Linked: linked}, "in: document 1: line 1: item 1 of an array: n1: kind is missing")
}

func TestArrayTakesItsKindFromTheOptions(t *testing.T) {
	wantLines(t, fixture(t, "array.json"), Options{APIVersion: "v1", Kind: "Pod"},
		web1+" in list",
		"v1 Pod shop/web-2 uid= in list",
		`list "" "" 2 partial=false`)
	wantProblem(t, fixture(t, "array.json"), Options{}, "in: document 1: line 2: item 1 of an array: shop/web-1: kind is missing")
}

func TestFlattenedList(t *testing.T) {
	wantLines(t, fixture(t, "flattened.json"), Options{APIVersion: "v1", Kind: "Pod"},
		"v1 Pod kube-system/dns-1 uid=f2f74677-417e-11e9-9e86-00155d700139 version=353 labels=k8s-app|kube-dns| created=1552034910"+
			" owner={APIVersion:apps/v1 Kind:ReplicaSet Name:dns UID:f2f1ecd5-417e-11e9-9e86-00155d700139 Controller:2 BlockOwnerDeletion:2}"+
			" finalizers=[example.com/x] deleted=1552035600 grace=5 pod={minikube Running mirror=false 30 volumes=[]} in list",
		`list "" "" 1 partial=false`)
	wantLines(t, `{"selfLink":"/x","continue":"abc","Items":null}`, Options{}, `list "" "" 0 partial=true`)
}

func TestDumpWithTextBetween(t *testing.T) {
	wantLines(t, fixture(t, "dump.txt"), Options{SkipText: true},
		"v1 Pod n/a uid=u pod={n1 Failed mirror=false} in list",
		`list "v1" "PodList" 1 partial=false`,
		`list "v1" "EventList" 0 partial=false`,
		"foreign in: document 2: line 29: an object without apiVersion, kind and metadata")
	wantProblem(t, strings.TrimPrefix(fixture(t, "dump.txt"), "Cluster info dumped\n"), Options{},
		`in: document 2: line 23: a value is expected here, not '='`)
	cut, _, _ := strings.Cut(fixture(t, "dump.txt"), "last line")
	wantProblem(t, cut, Options{SkipText: true}, "in: document 1: line 24: the input ends in the middle of a log")
}

func TestStreamOfYAML(t *testing.T) {
	text := fixture(t, "stream.yaml")
	f, err := find(text, Options{})
	if err != nil || len(f.Objects) != 3 {
		t.Fatalf("%d objects, %v", len(f.Objects), err)
	}
	if diff := cmp.Diff([]Position{{"in", 1, 3}, {"in", 2, 41}, {"in", 3, 87}}, f.At); diff != "" {
		t.Errorf("positions (-want +got):\n%s", diff)
	}
	windows, err := find(strings.ReplaceAll(text, "\n", "\r\n"), Options{})
	sameFound(t, "CRLF", f, windows, nil, err)
}

func TestKindsOfItems(t *testing.T) {
	for _, c := range []struct {
		name, input string
		options     Options
		want        []string
	}{
		{"typed list", `{"kind":"JobList","apiVersion":"batch/v1","items":[{"metadata":{"name":"a"}}]}`, Options{Kind: "Other", APIVersion: "x/v1"},
			[]string{"batch/v1 Job a uid= in list", `list "batch/v1" "JobList" 1 partial=false`}},
		{"kind behind the items", `{"apiVersion":"v1","items":[{"metadata":{"name":"a"},"spec":{"nodeName":"n"}},{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"}}],"kind":"PodList"}`, Options{},
			[]string{"v1 Pod b uid= in list", "v1 Pod a uid= pod={n  mirror=false} in list", `list "v1" "PodList" 2 partial=false`}},
		{"page of a list", `{"kind":"PodList","apiVersion":"v1","metadata":{"continue":"x"},"items":[]}`, Options{},
			[]string{`list "v1" "PodList" 0 partial=true`}},
		{"list of lists", `{"kind":"List","apiVersion":"v1","items":[{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}]}`, Options{},
			[]string{"v1 Pod a uid= in list", `list "v1" "PodList" 1 partial=false`, `list "v1" "List" 1 partial=false`}},
		{"only metadata", `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}}]}`,
			Options{APIVersion: "v1", Kind: "Secret", Namespace: "n"},
			[]string{"v1 Secret n/a uid= in list", `list "meta.k8s.io/v1" "PartialObjectMetadataList" 1 partial=false`}},
		{"lines of JSON", "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}\n{\"level\":\"info\"}\n\n[]\"x\"3", Options{},
			[]string{"v1 Pod a uid=", `list "" "" 0 partial=false`, "foreign in: document 2: line 2: an object without apiVersion, kind and metadata",
				"foreign in: document 4: line 4: a JSON value that is neither object nor array", "foreign in: document 5: line 4: a JSON value that is neither object nor array"}},
		{"kind behind spec", `{"spec":{"nodeName":"n"},"status":{"phase":"Failed"},"metadata":{"name":"a"},"kind":"Pod","apiVersion":"v1"}`, Options{},
			[]string{"v1 Pod a uid= pod={n Failed mirror=false}"}},
		{"pods of another group", `{"apiVersion":"x/v1","kind":"Pod","metadata":{"name":"a"},"spec":{"nodeName":{}}}`, Options{}, []string{"x/v1 Pod a uid="}},
		{"CRD without scope", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"a"},"spec":{"group":"b","names":{"kind":"A","plural":"a"}}}`, Options{},
			[]string{"apiextensions.k8s.io/v1 CustomResourceDefinition a uid="}},
		{"discovery", `{"kind":"APIGroupList","groups":[]}`, Options{}, []string{"foreign in: document 1: line 1: an answer of API discovery"}},
		{"nothing", "", Options{}, nil},
		{"nothing but comments", "# a\n\n# b\n", Options{}, nil},
		{"byte order mark", "\xef\xbb\xbf{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"a\"}}", Options{}, []string{"v1 Pod a uid="}},
	} {
		t.Run(c.name, func(t *testing.T) { wantLines(t, c.input, c.options, c.want...) })
	}
}

func TestSharing(t *testing.T) {
	f := &found{}
	if err := Read(bytes.NewReader(podList(t, 4, 2)), Options{}, f.handler()); err != nil {
		t.Fatal(err)
	}
	a, b, c := f.Objects[0], f.Objects[1], f.Objects[2]
	if &a.Owners[0] != &b.Owners[0] {
		t.Error("siblings do not share their owner references")
	}
	if a.Owners[0].UID == c.Owners[0].UID {
		t.Error("different owners are the same")
	}
	if a.Lifecycle == nil || a.Lifecycle != c.Lifecycle {
		t.Error("pods with equal facts do not share them")
	}
	if want := object.LabelsOf(map[string]string{"app": "web", "pod-template-hash": "h0", "tier": "front"}); a.Labels != want {
		t.Errorf("labels %q, want %q", a.Labels, want)
	}
}
