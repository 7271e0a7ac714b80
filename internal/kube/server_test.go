package kube

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// The kinds that the scripted server serves.
var (
	configMaps = object.Resource{Version: "v1", Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: object.AllVerbs}
	pods       = object.Resource{Version: "v1", Name: "pods", Kind: "Pod", Namespaced: true, Verbs: object.AllVerbs}
	widgets    = object.Resource{Group: "example.com", Version: "v1", Name: "widgets", Kind: "Widget", Namespaced: true, Verbs: object.AllVerbs}
)

// scripted is an API server with scripted answers.
type scripted struct {
	*httptest.Server
	mu sync.Mutex
	// routes has the answers by path. Each request to a path takes the next answer, and the last
	// one is repeated.
	routes map[string][]http.HandlerFunc
	asked  []string
	waited []time.Duration
	passed time.Duration
}

// serve starts a scripted server that serves discovery of the usual kinds. It returns it with a
// client whose waits take no time.
func serve(t *testing.T) (*scripted, *Client) {
	t.Helper()
	s := &scripted{routes: map[string][]http.HandlerFunc{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.handle))
	s.on("/version", answerJSON(map[string]string{"gitVersion": "v1.36.3"}))
	s.serves(nil, namespaces, configMaps, pods, widgets)
	s.on("/api/v1/namespaces/kube-system", one(object.Ref{Name: "kube-system", UID: "cluster"}, "1"))
	c, err := Connect(&rest.Config{Host: s.URL}, Options{Version: "v9", Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	c.now = func() time.Time {
		s.mu.Lock()
		defer s.mu.Unlock()
		return began.Add(s.passed)
	}
	c.wait = func(_ <-chan struct{}, d time.Duration) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if d > 0 {
			s.waited = append(s.waited, d)
			s.passed += d
		}
	}
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		c.Close()
		noLeak(t)
	})
	return s, c
}

func (s *scripted) handle(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
	path := r.URL.Path
	if r.URL.Query().Get("watch") != "" {
		path += " watch"
	}
	answers := s.routes[path]
	if len(answers) > 1 {
		s.routes[path] = answers[1:]
	}
	s.mu.Unlock()
	if len(answers) == 0 {
		http.NotFound(w, r)
		return
	}
	answers[0](w, r)
}

// on sets the answers of a path.
func (s *scripted) on(path string, answers ...http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.routes[path] = answers
}

// requests returns the requests so far that contain a text.
func (s *scripted) requests(part string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.asked), func(r string) bool { return !strings.Contains(r, part) })
}

// serves sets the result of discovery: these resources, and stale group versions.
func (s *scripted) serves(stale []string, resources ...object.Resource) {
	core, groups := document(stale, resources)
	s.on("/api", discovered(core))
	s.on("/apis", discovered(groups))
}

func document(stale []string, resources []object.Resource) (core, groups *apidiscovery.APIGroupDiscoveryList) {
	core, groups = &apidiscovery.APIGroupDiscoveryList{}, &apidiscovery.APIGroupDiscoveryList{}
	for _, r := range resources {
		list := groups
		if r.Group == "" {
			list = core
		}
		i := slices.IndexFunc(list.Items, func(g apidiscovery.APIGroupDiscovery) bool { return g.Name == r.Group })
		if i < 0 {
			i = len(list.Items)
			list.Items = append(list.Items, apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: r.Group},
				Versions: []apidiscovery.APIVersionDiscovery{{Version: r.Version, Freshness: apidiscovery.DiscoveryFreshnessCurrent}}})
		}
		v := &list.Items[i].Versions[0]
		scope := apidiscovery.ScopeCluster
		if r.Namespaced {
			scope = apidiscovery.ScopeNamespace
		}
		v.Resources = append(v.Resources, apidiscovery.APIResourceDiscovery{
			Resource: r.Name, Scope: scope, SingularResource: strings.ToLower(r.Kind), Verbs: r.Verbs.Names(),
			ResponseKind: &metav1.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind},
		})
	}
	for _, gv := range stale {
		group, version := object.SplitAPIVersion(gv)
		groups.Items = append(groups.Items, apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: group},
			Versions: []apidiscovery.APIVersionDiscovery{{Version: version, Freshness: apidiscovery.DiscoveryFreshnessStale}}})
	}
	return core, groups
}

func discovered(list *apidiscovery.APIGroupDiscoveryList) http.HandlerFunc {
	list.APIVersion, list.Kind = "apidiscovery.k8s.io/v2", "APIGroupDiscoveryList"
	return answer200("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", encode(list))
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

func answer200(contentType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(body)
	}
}

func answerJSON(v any) http.HandlerFunc { return answer200(jsonType, encode(v)) }

// refuse answers with a Status.
func refuse(code int, reason metav1.StatusReason, change ...func(*metav1.Status)) http.HandlerFunc {
	status := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: string(reason) + " it is",
	}
	for _, f := range change {
		f(&status)
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", jsonType)
		if d := status.Details; d != nil && d.RetryAfterSeconds > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(d.RetryAfterSeconds))
		}
		w.WriteHeader(code)
		_, _ = w.Write(encode(status))
	}
}

func after(seconds int32) func(*metav1.Status) {
	return func(s *metav1.Status) { s.Details = &metav1.StatusDetails{RetryAfterSeconds: seconds} }
}

// missing answers NotFound for an object.
func missing(r object.Resource, name string) http.HandlerFunc {
	return refuse(404, metav1.StatusReasonNotFound, func(s *metav1.Status) {
		s.Details = &metav1.StatusDetails{Group: r.Group, Kind: r.Name, Name: name}
	})
}

// wrapped puts a message into the envelope of Kubernetes.
func wrapped(apiVersion, kind string, m interface{ Marshal() ([]byte, error) }) []byte {
	raw, err := m.Marshal()
	if err != nil {
		panic(err)
	}
	u := kuberuntime.Unknown{TypeMeta: kuberuntime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	text, err := u.Marshal()
	if err != nil {
		panic(err)
	}
	return append([]byte("k8s\x00"), text...)
}

func metaOf(ref object.Ref, version string) metav1.PartialObjectMetadata {
	return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: ref.Namespace, Name: ref.Name, UID: ref.UID, ResourceVersion: version,
	}}
}

// named returns an object of namespace shop with a uid like its name.
func named(name string) object.Ref {
	return object.Ref{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)}
}

func one(ref object.Ref, version string) http.HandlerFunc {
	m := metaOf(ref, version)
	return answer200(protobufType, wrapped(metaVersion, partialKind, &m))
}

// listBody returns a list of metadata whose items have the version of the list.
func listBody(version, token string, names ...string) []byte {
	list := metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: version, Continue: token}}
	for _, n := range names {
		list.Items = append(list.Items, metaOf(named(n), version))
	}
	return wrapped(metaVersion, partialList, &list)
}

func listOf(version, token string, names ...string) http.HandlerFunc {
	return answer200(protobufType, listBody(version, token, names...))
}

// event returns a frame of a watch.
func event(name string, ref object.Ref, version string) []byte {
	m := metaOf(ref, version)
	return framed(name, wrapped(metaVersion, partialKind, &m))
}

func watchError(code int32, reason metav1.StatusReason) []byte {
	return framed("ERROR", wrapped("v1", "Status", &metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: "no"}))
}

func framed(name string, object []byte) []byte {
	e := metav1.WatchEvent{Type: name, Object: kuberuntime.RawExtension{Raw: object}}
	text, err := e.Marshal()
	if err != nil {
		panic(err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
}

// watching answers with frames. Then it keeps the watch open until the client leaves, or ends it at
// once.
func watching(open bool, frames ...[]byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", protobufType+";stream=watch")
		_, _ = w.Write(bytes.Join(frames, nil))
		w.(http.Flusher).Flush()
		if open {
			<-r.Context().Done()
		}
	}
}

// ample is the time limit for anything that must happen, on slow machines too.
const ample = 5 * time.Minute

// noLeak waits until no goroutine runs code of this package.
func noLeak(t *testing.T) {
	t.Helper()
	deadline := time.After(ample)
	for {
		buf := make([]byte, 1<<20)
		var left []string
		for i, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if i > 0 && strings.Contains(g, "internal/kube.") && !strings.Contains(g, "_test.go") && !strings.Contains(g, "testing.tRunner") {
				left = append(left, g)
			}
		}
		if len(left) == 0 {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("goroutines are left:\n%s", strings.Join(left, "\n\n"))
		case <-time.After(time.Millisecond):
		}
	}
}
