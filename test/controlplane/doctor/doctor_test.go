// Package doctor asks the program whether the collector works, on a real control
// plane whose collector does, does not, or cannot see everything.
package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

const (
	collector  = "garbage-collector-controller"
	namespaces = "/api/v1/namespaces"
)

// plane is the control plane of all tests. Each chooses its controllers.
var plane *cluster.Cluster

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(cluster.Main(m, &plane, cluster.Debug))
}

func controllers(t *testing.T, names ...string) {
	t.Helper()
	if err := plane.Controllers(names...); err != nil {
		t.Fatal(err)
	}
}

// do sends a request and returns the uid of what it answers.
func do(t *testing.T, method, path, body string) string {
	t.Helper()
	text, err := plane.Do(t.Context(), method, path, "application/json", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	var o struct{ Metadata struct{ UID string } }
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	return o.Metadata.UID
}

// stage makes a namespace and returns the path of its ConfigMaps.
func stage(t *testing.T, name string) string {
	t.Helper()
	do(t, http.MethodPost, namespaces, fmt.Sprintf(`{"metadata":{"name":%q}}`, name))
	return namespaces + "/" + name + "/configmaps"
}

// owner and owned are ConfigMaps.
func owner(name string) string { return fmt.Sprintf(`{"metadata":{"name":%q}}`, name) }

func owned(name, owner, uid string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q,"blockOwnerDeletion":true}]}}`, name, owner, uid)
}

// answer is what doctor said.
type answer struct {
	code   int
	stderr string
	report.Checkup
}

// codes are those of its findings about what is called, or of a kind that is.
func (a answer) codes(name string) []string {
	var codes []string
	for _, f := range a.Findings {
		if f.Object.Name == name || f.Object.Kind == name {
			codes = append(codes, f.Code)
		}
	}
	return codes
}

// run runs the program.
func run(t *testing.T, in string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	args = append(append([]string{"kubectl-gc"}, args...), "--kubeconfig="+plane.Kubeconfig)
	code = cli.Main(t.Context(), args, genericiooptions.IOStreams{In: strings.NewReader(in), Out: &out, ErrOut: &errOut})
	return code, out.String(), errOut.String()
}

// doctor asks.
func doctor(t *testing.T, args ...string) answer {
	t.Helper()
	return doctorWith(t, "", args...)
}

func doctorWith(t *testing.T, in string, args ...string) answer {
	t.Helper()
	var a answer
	var out string
	a.code, out, a.stderr = run(t, in, append([]string{"doctor", "-o", "json"}, args...)...)
	if out != "" {
		if err := json.Unmarshal([]byte(out), &a.Checkup); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return a
}

// eventually asks until the answer is right.
func eventually(t *testing.T, what string, right func(answer) bool, args ...string) answer {
	t.Helper()
	var a answer
	defer func() {
		if t.Failed() {
			t.Logf("the last answer: %+v", a)
		}
	}()
	cluster.Until(t, what, func() bool {
		a = doctor(t, args...)
		return right(a)
	})
	return a
}

func graphURL() string { return plane.Debug + collector + "/graph" }

// A collector that runs and has nothing left to do is said to work, because its own
// graph is that of the cluster; a kind that it does not watch yet is no difference.
func TestWorking(t *testing.T) {
	controllers(t, collector)
	path := stage(t, "working")
	uid := do(t, http.MethodPost, path, owner("owner"))
	for i := range 5 {
		do(t, http.MethodPost, path, owned(fmt.Sprint("owned-", i), "owner", uid))
	}
	a := eventually(t, "the garbage collector works", func(a answer) bool { return a.Verdict == report.CollectorWorking && a.Graph.Compared >= 6 }, "--graph="+graphURL())
	if a.code != 0 || a.Graph.Different != 0 || a.Summary.Errors+a.Summary.Warnings > 0 || !a.Complete {
		t.Errorf("%+v", a)
	}

	do(t, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"widgets.working.example.com"},`+
		`"spec":{"group":"working.example.com","scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},`+
		`"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
	if err := plane.Serves(t.Context(), "working.example.com", "widgets", "v1"); err != nil {
		t.Fatal(err)
	}
	do(t, http.MethodPost, "/apis/working.example.com/v1/namespaces/working/widgets",
		fmt.Sprintf(`{"apiVersion":"working.example.com/v1","kind":"Widget","metadata":{"name":"new","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":%q}]}}`, uid))
	if a := doctor(t, "--graph="+graphURL()); a.Graph == nil || a.Graph.Different != 0 {
		t.Errorf("a kind that is new: %+v", a)
	}

	// The same from a file and from a pipe. That is no proof that anybody is there now.
	text, _, err := plane.Ask(t.Context(), collector+"/graph")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "graph.dot")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]answer{"file": doctor(t, "--graph="+file), "pipe": doctorWith(t, string(text), "--graph=-")} {
		if a.Verdict != report.CollectorNoProblemFound || a.Graph.Compared < 6 || a.Graph.Different != 0 {
			t.Errorf("from a %s: %+v", name, a)
		}
	}
}

// A collector that does not run leaves its work undone: what proves since when makes it
// an error, and a collector that starts does what was found.
func TestNotWorking(t *testing.T) {
	controllers(t)
	path := stage(t, "off")
	for _, name := range []string{"again", "gone", "waits"} {
		do(t, http.MethodPost, path, owned(name+"-owned", name, do(t, http.MethodPost, path, owner(name))))
	}
	do(t, http.MethodDelete, path+"/again", `{"propagationPolicy":"Background"}`)
	do(t, http.MethodPost, path, owner("again"))
	do(t, http.MethodDelete, path+"/gone", `{"propagationPolicy":"Background"}`)
	do(t, http.MethodDelete, path+"/waits", `{"propagationPolicy":"Foreground"}`)
	do(t, http.MethodPost, path, owner("freed"))
	do(t, http.MethodDelete, path+"/freed", `{"propagationPolicy":"Orphan"}`)

	// All of this is new: a collector that runs could not be told from one that does not.
	if a := doctor(t); a.Verdict == report.CollectorNotWorking || a.code != 0 || !slices.Equal(a.codes("gone-owned"), []string{"GarbageYoung"}) {
		t.Errorf("%+v", a)
	}
	a := eventually(t, "the garbage collector does not work", func(a answer) bool {
		return slices.Equal(a.codes("again-owned"), []string{"GarbageOld"}) && slices.Equal(a.codes("waits"), []string{"ForegroundStuck"}) &&
			slices.Equal(a.codes("freed"), []string{"OrphanStuck"})
	}, "--patience=0s")
	if a.Verdict != report.CollectorNotWorking || a.code != 3 || !slices.Equal(a.codes("gone-owned"), []string{"GarbageLeft"}) {
		t.Errorf("%+v", a)
	}

	before := filepath.Join(t.TempDir(), "before.gz")
	if code, _, stderr := run(t, "", "snapshot", "--to", before); code != 0 {
		t.Fatal(stderr)
	}
	a = eventually(t, "an earlier dump proves it", func(a answer) bool { return slices.Equal(a.codes("gone-owned"), []string{"GarbageOld"}) },
		"--patience=0s", "--before="+before)
	if a.Verdict != report.CollectorNotWorking || a.EarlierTakenAt == "" {
		t.Errorf("%+v", a)
	}

	controllers(t, collector)
	a = eventually(t, "the garbage collector has done its work", func(a answer) bool { return a.Summary.Errors+a.Summary.Warnings == 0 && a.Graph != nil },
		"--patience=0s", "--before="+before, "--graph="+graphURL())
	if a.Verdict == report.CollectorNotWorking || a.Graph.Different != 0 {
		t.Errorf("%+v", a)
	}
}

// APIs that the collector cannot see are named: one that is registered and down, and a
// kind that cannot be listed because nobody converts its objects.
func TestBlind(t *testing.T) {
	controllers(t)
	const registered, definition = "/apis/apiregistration.k8s.io/v1/apiservices", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	do(t, http.MethodPost, registered, `{"metadata":{"name":"v1.down.example.com"},"spec":{"group":"down.example.com","version":"v1",`+
		`"groupPriorityMinimum":1000,"versionPriority":10,"insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"nobody"}}}`)
	defer func() { // what goes shows for a moment longer
		remove(t, registered+"/v1.down.example.com")
		remove(t, definition+"/gears.blind.example.com")
		eventually(t, "everything is seen", func(a answer) bool { return a.Complete })
	}()
	a := eventually(t, "an API that is down is named", func(a answer) bool { return len(a.codes("v1.down.example.com")) > 0 })
	if !slices.Equal(a.codes("v1.down.example.com"), []string{"GroupUndiscovered"}) || a.Verdict != report.CollectorUnknown || a.Complete {
		t.Errorf("%+v", a)
	}

	const version = `{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object"}}}`
	do(t, http.MethodPost, definition, `{"metadata":{"name":"gears.blind.example.com"},"spec":{"group":"blind.example.com","scope":"Namespaced",`+
		`"names":{"plural":"gears","singular":"gear","kind":"Gear","listKind":"GearList"},`+
		`"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1/nobody"}}},`+
		`"versions":[`+fmt.Sprintf(version, "v1", true)+`,`+fmt.Sprintf(version, "v2", false)+`]}}`)
	if err := plane.Serves(t.Context(), "blind.example.com", "gears", "v1", "v2"); err != nil {
		t.Fatal(err)
	}
	do(t, http.MethodPost, "/apis/blind.example.com/v1/namespaces/default/gears", `{"apiVersion":"blind.example.com/v1","kind":"Gear","metadata":{"name":"g"}}`)
	a = eventually(t, "a kind that cannot be listed is named", func(a answer) bool { return len(a.codes("gears.blind.example.com")) > 0 })
	if !slices.Equal(a.codes("gears.blind.example.com"), []string{"KindUnlisted"}) || a.Verdict != report.CollectorUnknown || a.code != 3 {
		t.Errorf("%+v", a)
	}
}

// A deletion that the running collector has missed is seen in its own graph, and a
// restart mends it. (spec Q20)
func TestMissed(t *testing.T) {
	controllers(t, collector)
	path := stage(t, "missed")
	root := do(t, http.MethodPost, path, owner("root"))
	uid := do(t, http.MethodPost, path, owned("middle", "root", root))
	eventually(t, "the garbage collector knows both", func(a answer) bool { return a.Verdict == report.CollectorWorking && a.Graph.Compared >= 2 }, "--graph="+graphURL())
	// No request leads to an object with both finalizers: it is put into storage.
	err := plane.Store([]cluster.Stored{{Key: "configmaps/missed/middle", Manifest: fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{`+
		`"name":"middle","namespace":"missed","uid":%q,"creationTimestamp":"2026-01-01T00:00:00Z","deletionTimestamp":"2026-01-02T00:00:00Z","deletionGracePeriodSeconds":0,`+
		`"finalizers":["orphan","foregroundDeletion"],"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"root","uid":%q}]}}`, uid, root)}})
	if err != nil {
		t.Fatal(err)
	}
	missed := []string{"ForegroundWaits", "GraphStateDiffers"}
	a := eventually(t, "half of the work is done", func(a answer) bool { return slices.Equal(a.codes("middle"), missed) }, "--graph="+graphURL())
	if a.Verdict != report.CollectorUnknown || a.Graph.Different != 1 {
		t.Errorf("%+v", a)
	}
	controllers(t)
	controllers(t, collector)
	eventually(t, "a restart mends it", func(a answer) bool { return a.Graph != nil && len(a.codes("middle")) == 0 }, "--graph="+graphURL())
}

// The lease and the command line of kube-controller-manager say what they can.
func TestManager(t *testing.T) {
	controllers(t)
	const leases, pods = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", namespaces + "/kube-system/pods"
	a := doctor(t)
	if !slices.Equal(a.codes("kube-controller-manager"), []string{"LeaseAbsent"}) || a.Verdict != report.CollectorUnknown {
		t.Errorf("no lease: %+v", a)
	}
	const lease = `{"metadata":{"name":"kube-controller-manager"},"spec":{"holderIdentity":"master-1","leaseDurationSeconds":15,"renewTime":%q}}`
	do(t, http.MethodPost, leases, fmt.Sprintf(lease, "2026-01-01T00:00:00.000000Z"))
	t.Cleanup(func() { remove(t, leases+"/kube-controller-manager") })
	if a := doctor(t); !slices.Equal(a.codes("kube-controller-manager"), []string{"LeaseExpired"}) || a.Verdict != report.CollectorNotWorking || a.code != 3 {
		t.Errorf("an old lease: %+v", a)
	}
	remove(t, leases+"/kube-controller-manager")
	do(t, http.MethodPost, leases, fmt.Sprintf(lease, "2126-01-01T00:00:00.000000Z"))
	if a := doctor(t); len(a.codes("kube-controller-manager")) > 0 || a.Verdict != report.CollectorNoProblemFound {
		t.Errorf("a lease that is renewed: %+v", a)
	}
	do(t, http.MethodPost, pods, `{"metadata":{"name":"manager","labels":{"component":"kube-controller-manager"}},"spec":{"automountServiceAccountToken":false,`+
		`"containers":[{"name":"m","image":"m","command":["kube-controller-manager","--leader-elect=true"],"args":["--controllers=*,-garbage-collector-controller"]}]}}`)
	t.Cleanup(func() { remove(t, pods+"/manager?gracePeriodSeconds=0") })
	if a := doctor(t); !slices.Equal(a.codes("manager"), []string{"CollectorSwitchedOff"}) || a.Verdict != report.CollectorNotWorking {
		t.Errorf("switched off: %+v", a)
	}
}

// The rights that are printed for doctor are enough, and without them it says what it
// could not see.
func TestRights(t *testing.T) {
	controllers(t)
	if a := doctor(t, "--as=doctor"); a.code != 1 && a.Verdict != report.CollectorUnknown {
		t.Errorf("without any permissions: %+v", a)
	}
	code, role, stderr := run(t, "", "rbac", "--for", "doctor")
	if code != 0 {
		t.Fatal(stderr)
	}
	if _, err := plane.Kubectl(t.Context(), []byte(role), "create", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	if _, err := plane.Kubectl(t.Context(), nil, "create", "clusterrolebinding", "doctor", "--clusterrole=kubectl-gc-doctor", "--user=doctor"); err != nil {
		t.Fatal(err)
	}
	a := eventually(t, "the role has come into force", func(a answer) bool { return a.Complete }, "--as=doctor")
	if len(a.Gaps) > 0 || !slices.Equal(a.codes("kube-controller-manager"), []string{"LeaseAbsent"}) {
		t.Errorf("%+v", a)
	}
}

// remove cleans up after a test, whose context has ended.
func remove(t *testing.T, path string) {
	t.Helper()
	if _, err := plane.Do(context.WithoutCancel(t.Context()), http.MethodDelete, path, "", nil); err != nil && cluster.Code(err) != http.StatusNotFound {
		t.Log(err)
	}
}
