package realcluster

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A namespace is marked, emptied five seconds later, pods first, and goes.
//
// Shows: S200
func TestNamespace(t *testing.T) {
	beside(t)
	define(t, "widgets.example.com", "Widget", "Namespaced")
	define(t, "gadgets.example.com", "Gadget", "Cluster")
	s := begin(t, ofControllers+"s200_namespace.txt")
	s.cluster(1)
	s.do("delete v1 Namespace shop")
	s.sees("MODIFIED v1 Namespace shop deleting phase=Terminating spec=[kubernetes]")
	s.sees("MODIFIED v1 Pod shop/p deleting=+30 grace=30 node=n1 phase=Running period=30")
	s.sees("DELETED v1 Pod shop/q deleting grace=0 node= period=30")
	s.stays("ADDED v1 ConfigMap shop/c uid=c")
	s.stays("ADDED apps/v1 Deployment shop/d uid=d")
	s.stays("ADDED example.com/v1 Widget shop/w uid=w")
	marked := read[corev1.Namespace](t, "/api/v1/namespaces/s200-shop").DeletionTimestamp
	emptied := read[corev1.Pod](t, "/api/v1/namespaces/s200-shop/pods/p").DeletionTimestamp.Add(-30 * time.Second)
	if after := emptied.Sub(marked.Time); after < 5*time.Second {
		t.Errorf("the first pod went %s after the namespace was marked", after)
	}
	s.kubelet("v1", "Pod", "shop/p")
	s.rest(1)
}

// A namespace for which a pass is due, and which is active when it comes, is only
// looked at.
//
// Shows: S214
func TestActiveNamespace(t *testing.T) {
	beside(t)
	path := ""
	for try := 0; path == ""; try++ {
		path = againBeforeThePass(t, fmt.Sprintf("s214-%d", try))
	}
	post(t, path+"/configmaps", `{"metadata":{"name":"kept"}}`)
	before := read[corev1.Namespace](t, path)
	post(t, "/api/v1/namespaces", `{"metadata":{"name":"s214-fence"}}`)
	const fence = "/api/v1/namespaces/s214-fence"
	remove(t, fence, "")
	awaitGone(t, fence)
	if after := read[corev1.Namespace](t, path); after.ResourceVersion != before.ResourceVersion {
		t.Errorf("it was written to: %v", after)
	}
	if !exists(t, path+"/configmaps/kept") {
		t.Error("what is in it has gone")
	}
}

// againBeforeThePass has a namespace marked, go by hand, and come back before the pass
// that is due five seconds later. It returns the path; none when it took too long.
func againBeforeThePass(t *testing.T, name string) (path string) {
	t.Helper()
	path = "/api/v1/namespaces/" + name
	empty := fmt.Sprintf(`{"metadata":{"name":%q}}`, name)
	post(t, "/api/v1/namespaces", empty)
	began := time.Now()
	remove(t, path, "")
	by := ask(t, "", http.MethodPut, path+"/finalize", "application/json",
		fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q},"spec":{"finalizers":[]}}`, name))
	again := ask(t, "", http.MethodPost, "/api/v1/namespaces", "application/json", empty)
	if time.Since(began) > 4*time.Second {
		return ""
	}
	if by.code != http.StatusOK || again.code != http.StatusCreated {
		t.Fatalf("finalized by hand: %d %s; created again: %d %s", by.code, by.refusal.Message, again.code, again.refusal.Message)
	}
	return path
}

// Until no pod is left nothing else in a namespace is touched, and its conditions
// say that all has been removed.
//
// Shows: S210
func TestPodsFirst(t *testing.T) {
	beside(t)
	s := begin(t, ofControllers+"s210_pods_first.txt")
	s.cluster(1)
	s.do("delete v1 Namespace shop")
	s.sees("MODIFIED v1 Pod shop/p deleting grace=0 fin=[e2e/finalizer] node=")
	s.sees("MODIFIED v1 Pod shop/q deleting=+30 grace=30 node=n1 phase=Running period=30")
	s.kubelet("v1", "Pod", "shop/q")
	s.sees("MODIFIED v1 Pod shop/p deleting grace=0 fin=[e2e/finalizer] node= phase=Failed")
	s.stays("ADDED v1 ConfigMap shop/c uid=c")
	s.do("patch merge p fin=")
	s.sees("DELETED v1 ConfigMap shop/c")
	awaitGone(t, "/api/v1/namespaces/s210-shop")
}

// A broken aggregated API holds a namespace, not what is in it, nor the collector.
// When the API is removed, the namespace goes.
//
// Shows: S212
func TestBrokenAPI(t *testing.T) {
	controllers(t, collector, "namespace-controller")
	take := aggregate(t, "broken.example.com", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "broken", http.StatusServiceUnavailable)
	}))
	const path = "/api/v1/namespaces/s212"
	post(t, "/api/v1/namespaces", `{"metadata":{"name":"s212"}}`)
	post(t, path+"/configmaps", `{"metadata":{"name":"c"}}`)
	remove(t, path, "")
	awaitGone(t, path+"/configmaps/c")
	await(t, func() string {
		for _, c := range read[corev1.Namespace](t, path).Status.Conditions {
			if c.Type == corev1.NamespaceDeletionDiscoveryFailure && c.Status == corev1.ConditionTrue &&
				c.Reason == "DiscoveryFailed" && strings.Contains(c.Message, "broken.example.com/v1") {
				return ""
			}
		}
		return "no condition says that discovery failed"
	})
	fence(t)
	if !exists(t, path) {
		t.Fatal("it went")
	}
	take()
	awaitGone(t, path)
}

// A resource that answers 404 to what it offers is one that the namespace does not
// have.
//
// Shows: S213
func TestHalfServedAPI(t *testing.T) {
	beside(t)
	var mu sync.Mutex
	asked := map[string]bool{}
	aggregate(t, "half.example.com", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/apis/half.example.com/v1" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"half.example.com/v1","resources":[`+
				`{"name":"wisps","singularName":"wisp","namespaced":true,"kind":"Wisp","verbs":["delete","deletecollection","list"]}]}`)
			return
		}
		mu.Lock()
		asked[r.Method+" "+r.URL.Path] = true
		mu.Unlock()
		http.NotFound(w, r)
	}))
	await(t, func() string {
		if r := ask(t, "", http.MethodGet, "/apis/half.example.com/v1", "", nil); r.code != http.StatusOK {
			return fmt.Sprintf("it is not served: %d", r.code)
		}
		return ""
	})
	// Discovery of all groups takes a moment more.
	await(t, func() string {
		if r := ask(t, "", http.MethodGet, "/apis", "", nil); !strings.Contains(string(r.body), "half.example.com") {
			return "it is not among the groups"
		}
		return ""
	})
	const path = "/api/v1/namespaces/s213"
	post(t, "/api/v1/namespaces", `{"metadata":{"name":"s213"}}`)
	post(t, path+"/configmaps", `{"metadata":{"name":"c"}}`)
	remove(t, path, "")
	awaitGone(t, path)
	mu.Lock()
	defer mu.Unlock()
	for _, request := range []string{"DELETE", "GET"} {
		if !asked[request+" /apis/half.example.com/v1/namespaces/s213/wisps"] {
			t.Errorf("it was not asked to %s: %v", request, asked)
		}
	}
}

// aggregate has the API server pass the requests for version v1 of a group on. It
// returns what takes that back, which happens at the end of the test anyway.
func aggregate(t *testing.T, group string, h http.Handler) (take func()) {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the API server also only looks whether it listens
	server.StartTLS()
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(group, ".")
	const services, apis = "/api/v1/namespaces/default/services", "/apis/apiregistration.k8s.io/v1/apiservices"
	post(t, services, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"type":"ExternalName","externalName":"127.0.0.1"}}`, name))
	post(t, apis, fmt.Sprintf(`{"metadata":{"name":"v1.%[1]s"},"spec":{"group":%[1]q,"version":"v1","groupPriorityMinimum":10,"versionPriority":10,`+
		`"insecureSkipTLSVerify":true,"service":{"namespace":"default","name":%[2]q,"port":%[3]s}}}`, group, name, port))
	taken := false
	take = func() {
		t.Helper()
		if taken {
			return
		}
		taken = true
		remove(t, apis+"/v1."+group, "")
		remove(t, services+"/"+name, "")
		await(t, func() string {
			var groups struct{ Groups []struct{ Name string } }
			if err := json.Unmarshal(must(t, http.MethodGet, "/apis", "", nil), &groups); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(fmt.Sprint(groups), group) {
				return group + " is still among the groups"
			}
			return ""
		})
	}
	t.Cleanup(take)
	return take
}
