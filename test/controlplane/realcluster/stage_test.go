// Package realcluster lives through behaviours on a real control plane that no replay of
// a scenario file reaches: changes made while the collector runs, users with fewer
// rights, broken APIs, controllers with timers of their own. What a scenario file
// says of them is taken from the file.
package realcluster

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/claims"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

const (
	collector = "garbage-collector-controller"
	// calm is how long a world has to stay as it is.
	calm = 300 * time.Millisecond
)

// everything are the controllers of the tests that run beside each other.
var everything = []string{
	collector, "namespace-controller", "pod-garbage-collector-controller",
	"persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller", "persistentvolume-binder-controller",
	"statefulset-controller", "job-controller", "deployment-controller", "replicaset-controller",
	"resourceclaim-controller", "service-cidr-controller", "endpointslice-mirroring-controller",
}

// plane is the control plane of all tests. Tests follow one another and choose
// their controllers; those that call beside have all of them, and each other.
var plane struct {
	*cluster.Cluster
	mu      sync.Mutex // of the rest
	running []string
	fences  int
}

func TestMain(m *testing.M) {
	flag.Parse()
	// The tests that run beside each other wait; they take no processor.
	_ = flag.Set("test.parallel", "32") // it is a number
	os.Exit(cluster.Main(m, &plane.Cluster, cluster.Debug, cluster.Unrouted, cluster.Admission("OwnerReferencesPermissionEnforcement")))
}

// real.txt says of these tests what they show.
func TestClaims(t *testing.T) { claims.Check(t, "realcluster") }

// controllers has exactly these controllers running.
func controllers(t *testing.T, names ...string) {
	t.Helper()
	if choose(t, names) && slices.Contains(names, collector) {
		fence(t)
	}
}

// choose reports whether other controllers were running.
func choose(t *testing.T, names []string) bool {
	t.Helper()
	plane.mu.Lock()
	defer plane.mu.Unlock()
	if slices.Equal(plane.running, names) {
		return false
	}
	if err := plane.Controllers(names...); err != nil {
		t.Fatal(err)
	}
	plane.running = names
	return true
}

// restart replaces the controller manager by one that knows nothing.
func restart(t *testing.T) {
	t.Helper()
	names := plane.running
	plane.running = nil
	controllers(t, names...)
}

// beside lets a test go on with all controllers, beside all others that do.
func beside(t *testing.T) {
	t.Helper()
	t.Parallel()
	controllers(t, everything...)
}

// reply is what a server says.
type reply struct {
	code    int
	body    []byte
	refusal metav1.Status
}

// ask sends a request, as an administrator or, on his behalf, as another user.
func ask(t *testing.T, user, method, path, contentType string, body any) reply {
	t.Helper()
	var r reply
	await(t, func() string { // a kind that is new has to be read from storage first
		if r = once(t, user, method, path, contentType, body); r.code == http.StatusTooManyRequests {
			return path + " is not ready"
		}
		return ""
	})
	return r
}

// once sends a request once.
func once(t *testing.T, user, method, path, contentType string, body any) reply {
	t.Helper()
	text, raw := body.(string)
	if !raw && body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		text = string(b)
	}
	// The context of a test ends before what the test cleans up.
	request, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, plane.URL+path, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+plane.Token)
	request.Header.Set("Accept", "application/json")
	if user != "" {
		request.Header.Set("Impersonate-User", user)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	answer, err := plane.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	r := reply{code: answer.StatusCode}
	if r.body, err = io.ReadAll(answer.Body); err != nil {
		t.Fatal(err)
	}
	if r.code >= http.StatusBadRequest && json.Unmarshal(r.body, &r.refusal) != nil {
		r.refusal.Message = string(bytes.TrimSpace(r.body)) // a path that is not served is answered in plain text
	}
	return r
}

// must is a request of the administrator that succeeds.
func must(t *testing.T, method, path, contentType string, body any) []byte {
	t.Helper()
	r := ask(t, "", method, path, contentType, body)
	if r.code >= http.StatusBadRequest {
		t.Fatalf("%s %s: %d %s", method, path, r.code, r.refusal.Message)
	}
	return r.body
}

func post(t *testing.T, path string, body any) []byte {
	t.Helper()
	return must(t, http.MethodPost, path, "application/json", body)
}

func patch(t *testing.T, path, body string) {
	t.Helper()
	must(t, http.MethodPatch, path, "application/merge-patch+json", body)
}

func remove(t *testing.T, path, options string) {
	t.Helper()
	if options == "" {
		options = "{}"
	}
	must(t, http.MethodDelete, path, "application/json", options)
}

func exists(t *testing.T, path string) bool {
	t.Helper()
	r := ask(t, "", http.MethodGet, path, "", nil)
	if r.code != http.StatusOK && r.code != http.StatusNotFound {
		t.Fatalf("GET %s: %d %s", path, r.code, r.refusal.Message)
	}
	return r.code == http.StatusOK
}

func read[T any](t *testing.T, path string) T {
	t.Helper()
	var o T
	if err := json.Unmarshal(must(t, http.MethodGet, path, "", nil), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// await waits until something holds, or else says what is still wrong.
func await(t *testing.T, wrong func() string) {
	t.Helper()
	why := ""
	err := cluster.Await(context.WithoutCancel(t.Context()), "nothing is wrong", func(context.Context) (bool, error) {
		why = wrong()
		return why == "", nil
	})
	if err != nil {
		t.Fatalf("%v: %s", err, why)
	}
}

func awaitGone(t *testing.T, path string) {
	t.Helper()
	await(t, func() string {
		if exists(t, path) {
			return path + " is still there"
		}
		return ""
	})
}

// fence returns when the collector has begun with all that it learned before: it
// collects two dependents of what never was, of two kinds.
func fence(t *testing.T) {
	t.Helper()
	fenceOf(t, "configmaps", "")
	fenceOf(t, "secrets", "")
}

// fenceOf is fence for one kind, of which more than metadata may have to be said.
func fenceOf(t *testing.T, kind, more string) {
	t.Helper()
	plane.mu.Lock()
	plane.fences++
	name := fmt.Sprintf("fence-%d", plane.fences)
	plane.mu.Unlock()
	path := "/api/v1/namespaces/default/" + kind
	post(t, path, fmt.Sprintf(`{"metadata":{"name":%q,"ownerReferences":[{"apiVersion":"v1","kind":"Secret","name":"never","uid":%q}]}%s}`, name, name, more))
	awaitGone(t, path+"/"+name)
}
