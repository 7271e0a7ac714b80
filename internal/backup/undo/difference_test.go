package undo

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestDifferences: only the desired content of an object that exists again is compared. Fields set
// by the server or a built-in controller are ignored.
func TestDifferences(t *testing.T) {
	for _, c := range []struct{ name, saved, now, differs, patch string }{
		{"ConfigMap same", `{"data":{"a":"b"},"metadata":{"generation":1,"creationTimestamp":"x","managedFields":[{}],"finalizers":["x.io/f"],"selfLink":"s"}}`,
			`{"data":{"a":"b"},"metadata":{"generation":7,"creationTimestamp":"y","annotations":{"kubectl-gc.io/restored-from":"u"}},"status":{"x":1}}`, ``, ``},
		{"ConfigMap key", `{"data":{"a":"b","n":"1"}}`, `{"data":{"a":"c","app.conf":"x"}}`, `data.a=b>c data["app.conf"]=<nil>>x data.n=1><nil>`,
			`{"data":{"a":"b","app.conf":null,"n":"1"}}`},
		{"ConfigMap none", `{"data":{}}`, `{}`, ``, ``},
		{"ConfigMap labels", `{}`, `{"metadata":{"labels":{"app.kubernetes.io/name":"x"},"annotations":{"kubectl-gc.io/restored-from":"u"}}}`,
			`metadata.labels["app.kubernetes.io/name"]=<nil>>x`, `{"metadata":{"labels":{"app.kubernetes.io/name":null}}}`},
		{"Secret password", `{"data":{"password":"b2xk"},"type":"Opaque"}`, `{"data":{"password":"bmV3"},"type":"Opaque"}`, `data.password=b2xk>bmV3`, `{"data":{"password":"b2xk"}}`},
		{"Deployment.apps image", `{"metadata":{"annotations":{"deployment.kubernetes.io/revision":"7"}},"spec":{"replicas":3,"template":{"spec":{"containers":[{"image":"a:1","name":"c"}]}}}}`,
			`{"metadata":{"annotations":{"deployment.kubernetes.io/revision":"1"}},"spec":{"replicas":3,"template":{"spec":{"containers":[{"image":"a:2","name":"c"}]}}}}`,
			`spec.template.spec.containers[0].image=a:1>a:2`, `{"spec":{"template":{"spec":{"containers":[{"image":"a:1","name":"c"}]}}}}`},
		{"Service addresses", `{"spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ports":[{"nodePort":30001,"port":80}]}}`,
			`{"spec":{"clusterIP":"10.0.0.2","clusterIPs":["10.0.0.2"],"ports":[{"nodePort":30002,"port":80}]}}`, ``, ``},
		{"Service headless", `{"spec":{"clusterIP":"None","clusterIPs":["None"]}}`, `{"spec":{"clusterIP":"10.0.0.2","clusterIPs":["10.0.0.2"]}}`, `spec.clusterIP=None><nil> spec.clusterIPs=["None"]><nil>`, ``},
		{"Pod tokens", `{"spec":{"nodeName":"n1","volumes":[{"name":"kube-api-access-x"}],"containers":[{"volumeMounts":[{"name":"kube-api-access-x"}]}]}}`,
			`{"spec":{"nodeName":"n2","volumes":[{"name":"kube-api-access-y"}],"containers":[{"volumeMounts":[{"name":"kube-api-access-y"}]}]}}`, ``, ``},
		{"PersistentVolumeClaim volume", `{"metadata":{"annotations":{"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"volumeName":"old"}}`, `{"spec":{"volumeName":"new"}}`, `spec.volumeName=old>new`, ``},
		{"ClusterRole.rbac.authorization.k8s.io sum", `{"aggregationRule":{"x":[]},"rules":[{}]}`, `{"aggregationRule":{"x":[]},"rules":null}`, ``, ``},
		{"Node conditions", `{"spec":{"taints":[{"key":"a","effect":"NoSchedule"},{"key":"node.kubernetes.io/unreachable","effect":"NoExecute"}]}}`,
			`{"spec":{"taints":[{"key":"a","effect":"NoSchedule"},{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}]}}`, ``, ``},
		{"Node taint", `{"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","effect":"NoExecute"}]}}`, `{"spec":{"taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}]}}`,
			`spec.taints=[{"effect":"NoExecute","key":"node.kubernetes.io/out-of-service"}]>[]`, ``},
		{"Cart.example.com list", `{"spec":{"a":[1,2],"n":3}}`, `{"spec":{"a":[1],"n":4}}`,
			`spec.a=[1,2]>[1] spec.n=3>4`, `{"spec":{"a":[1,2],"n":3}}`},
		{"Cart.example.com status", `{"spec":{"a":1},"status":{"phase":"Done"}}`, `{"spec":{"a":1}}`, ``, ``},
	} {
		now := savedAs(refOf(c.name), c.now)
		n := node{Saved: savedAs(refOf(c.name), c.saved)}
		if err := n.decode(); err != nil {
			t.Fatal(err)
		}
		s := Step{Verb: Overwrite, Object: n.Object, content: intended(n.Object, n.content)}
		var err error
		if s.Differences, err = s.Differs(now.Raw); err != nil {
			t.Fatal(err)
		}
		var differs []string
		for _, d := range s.Differences {
			differs = append(differs, d.Path+"="+valueOf(d.Saved)+">"+valueOf(d.Now))
		}
		if got := strings.Join(differs, " "); got != c.differs {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.differs)
		}
		if c.patch == "" {
			continue
		}
		live := another(c.name)
		patch, other, err := s.OverwriteOf(&Mapping{}, live, now.Raw)
		want := strings.TrimSuffix(c.patch, "}") + `,"metadata":{"resourceVersion":"40","uid":"another"}}`
		if strings.HasPrefix(c.patch, `{"metadata":{`) {
			want = strings.TrimSuffix(c.patch, "}}") + `,"resourceVersion":"40","uid":"another"}}`
		}
		if err != nil || other || !sameJSON(t, string(patch), want) {
			t.Errorf("%s: %s, %v %v\nwant %s", c.name, patch, other, err, want)
		}
		if _, other, _ := s.OverwriteOf(&Mapping{}, live, n.Raw); !other {
			t.Errorf("%s: what does not differ as it was seen is overwritten", c.name)
		}
	}
}

func valueOf(v any) string {
	switch v.(type) {
	case nil, string, json.Number:
		return fmt.Sprint(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := ContentOf([]byte(a))
	if err != nil {
		t.Fatal(err)
	}
	y, err := ContentOf([]byte(b))
	if err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(x, y)
}

// TestExistsAgain: a recreated object counts as restored only if it has the saved content.
// Otherwise it differs, and is overwritten if requested. Objects of built-in controllers are left
// alone, and for objects deleted twice the latest version is compared.
func TestExistsAgain(t *testing.T) {
	content := map[string]string{
		"same": `{"data":{"a":"b"}}`, "differs": `{"data":{"a":"c"}}`, "twice": `{"data":{"a":"2"}}`, "web-1": `{"spec":{"replicas":0}}`, "done": `{}`, "kept": `{"data":{"a":"d"}}`,
	}
	set := another("ReplicaSet.apps web-1")
	set.Owners = []object.OwnerReference{controllerOf(refOf("Deployment.apps web"))}
	c := clusterOf(another("ConfigMap same"), another("Secret differs"), another("ConfigMap twice"), set, another("Job.batch done"), another("ConfigMap closed"), live("ConfigMap kept"))
	now := Cluster{Lookup: c.lookup, Content: func(r object.Ref) ([]byte, error) {
		if r.Name == "closed" {
			return nil, fmt.Errorf("forbidden")
		}
		return []byte(content[r.Name]), nil
	}}
	first, earlier := saved("ConfigMap twice", `{"data":{"a":"1"}}`), saved("ConfigMap kept", `{"data":{"a":"e"}}`)
	first.Object.UID, earlier.Object.UID = "u-first", "u-earlier"
	first.Raw = []byte(strings.NewReplacer(`"u-twice"`, `"u-first"`, `"7"`, `"6"`).Replace(string(first.Raw)))
	earlier.Raw = []byte(strings.NewReplacer(`"u-kept"`, `"u-earlier"`, `"7"`, `"6"`).Replace(string(earlier.Raw)))
	list := []Saved{
		saved("ConfigMap same", `{"data":{"a":"b"}}`), saved("Secret differs", `{"data":{"a":"b"}}`), first, saved("ConfigMap twice", `{"data":{"a":"2"}}`),
		saved("ReplicaSet.apps web-1", `{"spec":{"replicas":3}}`), saved("Job.batch done", `{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`),
		saved("ConfigMap closed", `{}`), earlier, saved("ConfigMap kept", `{"data":{"a":"d"}}`), {Object: refOf("ConfigMap same")},
		saved("ConfigMap below", "", ownerOf(refOf("Secret differs"))),
	}
	list[len(list)-2].Object.UID = "u-unsaved"
	rest := []string{
		"ControllerMakesIt apps/v1 ReplicaSet shop/web-1 another",
		"WouldRunAgain batch/v1 Job shop/done another",
		"TakenByAnother v1 ConfigMap shop/closed another",
		"TakenByAnother v1 ConfigMap shop/kept u-kept",
		"StillAlive v1 ConfigMap shop/kept u-kept",
		"SameContent v1 ConfigMap shop/same another",
		"TakenByAnother v1 ConfigMap shop/same another",
		"ListedTwice v1 ConfigMap shop/twice another",
		"SameContent v1 ConfigMap shop/twice another",
	}
	below := "1 Create v1 ConfigMap shop/below OwnerIsAnother:differs"
	if diff := cmp.Diff(append(append([]string{below}, rest...), "Differs v1 Secret shop/differs another"), lines(Resume(list, now, nil))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	now.Overwrite = true
	p := Resume(list, now, nil)
	if diff := cmp.Diff(append([]string{below, "2 Overwrite v1 Secret shop/differs"}, rest...), lines(p)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if p.Steps[1].Live().UID != "another" || len(p.Steps[1].Differences) != 1 {
		t.Errorf("%+v", p.Steps[1])
	}
	// Another object under the name of a saved one does not prove that the cluster is the same.
	p = Resume(list[1:2], now, nil)
	if len(p.Steps) != 1 || p.Recognised() {
		t.Errorf("%v", lines(p))
	}
}

// TestMadeBeforeDiffers: what an earlier undo made differs for the next undo too, if a server or a client
// has changed it. The plan still knows that an earlier undo made it, and its dependents refer to it.
func TestMadeBeforeDiffers(t *testing.T) {
	changed := refOf("Secret changed")
	c := clusterOf(another("Secret changed"), another("ConfigMap same"))
	now := Cluster{Lookup: c.lookup, Content: func(r object.Ref) ([]byte, error) { return []byte(`{"data":{"a":"c"}}`), nil }}
	list := []Saved{saved("Secret changed", `{"data":{"a":"b"}}`), saved("ConfigMap same", `{"data":{"a":"c"}}`), saved("ConfigMap below", "", ownerOf(changed))}
	again := map[types.UID]types.UID{changed.UID: "another", refOf("ConfigMap same").UID: "another"}
	below, same := "1 Create v1 ConfigMap shop/below +changed", "MadeBefore v1 ConfigMap shop/same another"
	if diff := cmp.Diff([]string{below, same, "Differs v1 Secret shop/changed another"}, lines(Resume(list, now, again))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if p := Resume(list[:1], now, again); !p.Recognised() {
		t.Errorf("%v", lines(p))
	}
	now.Overwrite = true
	if diff := cmp.Diff([]string{below, "2 Overwrite v1 Secret shop/changed", same}, lines(Resume(list, now, again))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestLacksWhatHolds: an object that exists again with the same content but without a former owner
// or finalizer differs. If requested, these are added to the existing ones. Additional entries, and
// references to missing owners, are ignored.
func TestLacksWhatHolds(t *testing.T) {
	owner, gone, comes := ownerOf(refOf("ConfigMap owner")), ownerOf(refOf("ConfigMap gone")), ownerOf(refOf("ConfigMap comes"))
	held := `{"metadata":{"finalizers":["x.io/f","foregroundDeletion"]},"data":{"a":"b"}}`
	same := another("ConfigMap same", owner)
	same.Edit().Finalizers = []string{"x.io/f", "y.io/more"}
	bare := another("ConfigMap bare", ownerOf(refOf("ConfigMap other")))
	bare.Edit().Finalizers = []string{"y.io/more"}
	c := clusterOf(live("ConfigMap owner"), same, bare, another("ConfigMap child"))
	list := []Saved{
		saved("ConfigMap same", held, owner, gone), saved("ConfigMap bare", held, owner), saved("ConfigMap child", `{"data":{"a":"b"}}`, comes), saved("ConfigMap comes", ""),
	}
	now := Cluster{Lookup: c.lookup, Content: func(object.Ref) ([]byte, error) { return []byte(`{"data":{"a":"b"}}`), nil }}
	p := Resume(list, now, nil)
	if diff := cmp.Diff([]string{
		"1 Create v1 ConfigMap shop/comes", "Differs v1 ConfigMap shop/bare another", "Differs v1 ConfigMap shop/child another", "SameContent v1 ConfigMap shop/same another",
	}, lines(p)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	paths := func(list []Difference) string {
		var all []string
		for _, d := range list {
			all = append(all, d.Path+"="+valueOf(d.Saved)+">"+valueOf(d.Now))
		}
		return strings.Join(all, " ")
	}
	if got, want := paths(p.Skipped[0].Differences), `metadata.finalizers=["x.io/f","foregroundDeletion"]>["y.io/more"] metadata.ownerReferences=["ConfigMap/owner"]>["ConfigMap/other"]`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	now.Overwrite = true
	p = Resume(list, now, nil)
	if diff := cmp.Diff([]string{
		"1 Create v1 ConfigMap shop/comes", "2 Overwrite v1 ConfigMap shop/bare +owner", "3 Overwrite v1 ConfigMap shop/child +comes(new)", "SameContent v1 ConfigMap shop/same another",
	}, lines(p)); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	var m Mapping
	m.Made(&p.Steps[0], "new")
	for i, want := range []string{
		`{"metadata":{"finalizers":["y.io/more","x.io/f"],"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"other","uid":"u-other"},{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"u-owner"}],"resourceVersion":"40","uid":"another"}}`,
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"comes","uid":"new"}],"resourceVersion":"40","uid":"another"}}`,
	} {
		s := &p.Steps[i+1]
		patch, other, err := s.OverwriteOf(&m, s.Live(), s.Now())
		if err != nil || other || !sameJSON(t, string(patch), want) {
			t.Errorf("%s %v %v\nwant %s", patch, other, err, want)
		}
	}
}
