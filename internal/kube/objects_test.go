package kube

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

const settingsPath = "/api/v1/namespaces/shop/configmaps/settings"

var settings = object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "settings", UID: "uid-settings"}

// ready returns a scripted server and a client that has run discovery.
func ready(t *testing.T) (*scripted, *Client) {
	t.Helper()
	s, c := serve(t)
	if _, err := c.Discover(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s, c
}

// TestAbsence: only a Status about exactly this object proves its absence. (L01)
func TestAbsence(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		absent bool
	}{
		"the object's":       {missing(configMaps, "settings"), true},
		"plain text":         {http.NotFound, false},
		"a page":             {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, false},
		"another object's":   {missing(configMaps, "other"), false},
		"another resource's": {missing(widgets, "settings"), false},
		"without details":    {refuse(404, metav1.StatusReasonNotFound), false},
		"another reason":     {refuse(404, metav1.StatusReasonUnknown, func(s *metav1.Status) { s.Details = &metav1.StatusDetails{Kind: "configmaps", Name: "settings"} }), false},
		"one that was made up": {refuse(404, metav1.StatusReasonNotFound, func(s *metav1.Status) {
			s.Details = &metav1.StatusDetails{Kind: "configmaps", Name: "settings", Causes: []metav1.StatusCause{{Type: metav1.CauseTypeUnexpectedServerResponse}}}
		}), false},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := ready(t)
			s.on(settingsPath, c.answer)
			o, err := client.Get(context.Background(), settings)
			if err == nil || o != nil {
				t.Fatalf("got %v, %v", o, err)
			}
			if apierrors.IsNotFound(err) != c.absent || isUnserved(err) == c.absent {
				t.Errorf("%T %v", err, err)
			}
			del := client.Delete(context.Background(), settings, metav1.DeleteOptions{})
			if apierrors.IsNotFound(del) != c.absent {
				t.Errorf("of a delete: %T %v", del, del)
			}
		})
	}
}

func TestGet(t *testing.T) {
	s, c := ready(t)
	s.on(settingsPath, one(named("settings"), "12"))
	o, err := c.Get(context.Background(), settings)
	if err != nil || o.UID != settings.UID || o.ResourceVersion != "12" || o.APIVersion != "v1" || o.Kind != "ConfigMap" {
		t.Errorf("got %+v, %v", o, err)
	}
	s.on(settingsPath, answer200(jsonType, []byte(`{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{"name":"settings","namespace":"shop","uid":"u"}}`)))
	if o, err = c.Get(context.Background(), settings); err != nil || o.UID != "u" {
		t.Errorf("got %+v, %v", o, err)
	}
	for name, answer := range map[string]http.HandlerFunc{
		"a page":                answer200("text/html", []byte("<html>")),
		"another object":        one(named("other"), "1"),
		"a list":                listOf("1", "", "settings"),
		"a part":                cutOff(protobufType, []byte("k8s\x00")),
		"a Status":              answerJSON(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: "Success"}),
		"an object as protobuf": answer200(protobufType, wrapped("v1", "ConfigMap", new(metaOf(named("settings"), "1")))),
	} {
		t.Run(name, func(t *testing.T) {
			s.on(settingsPath, answer)
			if o, err := c.Get(context.Background(), settings); err == nil || apierrors.IsNotFound(err) {
				t.Errorf("got %+v, %v", o, err)
			}
		})
	}
}

// TestImpossibleNames: names in owner references are free text, but never become another path. A
// name that no object can have is not found.
func TestImpossibleNames(t *testing.T) {
	s, c := ready(t)
	for name, absent := range map[string]bool{"": false, ".": false, "..": false, "../../secrets": false, "a/b": true, "shop/a/b": true, "a/status": false, "a%2fb": false} {
		ref := settings
		ref.Name = name
		o, err := c.Get(context.Background(), ref)
		impossible, ok := errors.AsType[*object.ImpossibleNameError](err)
		if err == nil || apierrors.IsNotFound(err) || ok != (name != "") || ok && impossible.Absent != absent {
			t.Errorf("%q: got %v, %v", name, o, err)
		}
	}
	if asked := s.requests("configmaps"); len(asked) > 0 {
		t.Errorf("asked %q", asked)
	}
	s.on("/api/v1/namespaces/shop/configmaps/a?x#y b", one(object.Ref{Namespace: "shop", Name: "a?x#y b", UID: "u"}, "1"))
	ref := settings
	ref.Name = "a?x#y b"
	if _, err := c.Get(context.Background(), ref); err != nil {
		t.Errorf("a strange but possible name: %v", err)
	}
	_, err := c.Get(context.Background(), object.Ref{APIVersion: "v1", Kind: "ConfigMap", Name: "x"})
	if _, ok := errors.AsType[*object.NamespaceRequiredError](err); !ok {
		t.Error(err)
	}
}

func TestWrites(t *testing.T) {
	s, c := ready(t)
	type sent struct{ method, contentType, body string }
	var got []sent
	take := func(answer http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = append(got, sent{r.Method, r.Header.Get("Content-Type"), string(body)})
			answer(w, r)
		}
	}
	s.on(settingsPath, take(one(named("settings"), "13")))
	uid, version, policy := types.UID("u"), "12", metav1.DeletePropagationForeground
	err := c.Delete(context.Background(), settings, metav1.DeleteOptions{PropagationPolicy: &policy, Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Patch(context.Background(), settings, object.Patch{Type: object.Merge, ResourceVersion: "12", Finalizers: &[]string{}}); err != nil {
		t.Fatal(err)
	}
	want := []sent{
		{"DELETE", jsonType, `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u","resourceVersion":"12"},"propagationPolicy":"Foreground"}`},
		{"PATCH", "application/merge-patch+json", `{"metadata":{"finalizers":null,"resourceVersion":"12"}}`},
	}
	if !slices.Equal(got, want) {
		t.Errorf("sent %q", got)
	}
}

// TestWriteFaults: a write is repeated only if the server says that it did nothing, and succeeds
// only if the server confirms it. (L36–L38)
func TestWriteFaults(t *testing.T) {
	done := one(named("settings"), "13")
	for name, c := range map[string]struct {
		answers []http.HandlerFunc
		asked   int
		good    func(error) bool
	}{
		"too busy":                    {[]http.HandlerFunc{refuse(429, metav1.StatusReasonTooManyRequests, after(7)), done}, 2, func(err error) bool { return err == nil }},
		"failing with a time to wait": {[]http.HandlerFunc{refuse(503, metav1.StatusReasonServiceUnavailable, after(1)), done}, 1, apierrors.IsServiceUnavailable},
		"late":                        {[]http.HandlerFunc{refuse(504, metav1.StatusReasonTimeout), done}, 1, apierrors.IsTimeout},
		"broken off":                  {[]http.HandlerFunc{func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, done}, 1, func(err error) bool { return err != nil && !apierrors.IsNotFound(err) }},
		"a page":                      {[]http.HandlerFunc{answer200("text/html", []byte("<html>"))}, 1, func(err error) bool { return err != nil }},
		"conflict":                    {[]http.HandlerFunc{refuse(409, metav1.StatusReasonConflict)}, 1, apierrors.IsConflict},
		"no such form of patch":       {[]http.HandlerFunc{refuse(415, metav1.StatusReasonUnsupportedMediaType)}, 1, apierrors.IsUnsupportedMediaType},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := ready(t)
			s.on(settingsPath, c.answers...)
			err := client.Patch(context.Background(), settings, object.Patch{})
			if !c.good(err) {
				t.Errorf("%T %v", err, err)
			}
			if asked := s.requests("settings"); len(asked) != c.asked {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

func TestWaitsAsTold(t *testing.T) {
	s, c := ready(t)
	s.on(settingsPath, refuse(429, metav1.StatusReasonTooManyRequests, after(7)), one(named("settings"), "1"))
	if err := c.Delete(context.Background(), settings, metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if !slices.Equal(s.waited, []time.Duration{7 * time.Second}) {
		t.Errorf("waited %v", s.waited)
	}
}

// TestManners: requests identify their sender, and warnings about writes are passed on once.
func TestManners(t *testing.T) {
	s, c := ready(t)
	var agents, warnings []string
	c.warnings.tell = func(text string) { warnings = append(warnings, text) }
	s.on(settingsPath, func(w http.ResponseWriter, r *http.Request) {
		agents = append(agents, r.Header.Get("User-Agent"))
		w.Header().Add("Warning", `299 - "this is old"`)
		one(named("settings"), "1")(w, r)
	})
	if _, err := c.Get(context.Background(), settings); err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	for range 2 {
		if err := c.Delete(context.Background(), settings, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(slices.Compact(agents), []string{"kubectl-gc/v9 (test)"}) || !slices.Equal(warnings, []string{"this is old"}) {
		t.Errorf("agents %q, warnings %q", agents, warnings)
	}
}

func TestIdentity(t *testing.T) {
	s, c := serve(t)
	review := "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	s.on(review, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), `"kind":"SelfSubjectReview"`) {
			t.Errorf("asked with %s", body)
		}
		w.Header().Set("Content-Type", jsonType)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"status":{"userInfo":{"username":"ann"}}}`)
	})
	id, err := c.Identity(context.Background())
	if want := (Identity{ClusterUID: "cluster", Server: s.URL, User: "ann", Version: "v1.36.3"}); err != nil || id != want {
		t.Errorf("%+v, %v", id, err)
	}
	s.on(review, refuse(403, metav1.StatusReasonForbidden))
	s.on("/api/v1/namespaces/kube-system", refuse(403, metav1.StatusReasonForbidden))
	s.on("/version", refuse(403, metav1.StatusReasonForbidden))
	if id, err = c.Identity(context.Background()); err != nil || id != (Identity{Server: s.URL}) {
		t.Errorf("without permissions: %+v, %v", id, err)
	}
	s.on(review, http.NotFound)
	if _, err = c.Identity(context.Background()); err != nil {
		t.Errorf("of an old server: %v", err)
	}
	s.on(review, refuse(500, metav1.StatusReasonInternalError))
	if _, err = c.Identity(context.Background()); err == nil {
		t.Error("a failure passed for an answer")
	}
	s.on("/version", refuse(500, metav1.StatusReasonInternalError))
	if _, err = c.Identity(context.Background()); err == nil || !strings.HasPrefix(err.Error(), "the server's version: ") {
		t.Errorf("of a server that fails: %v", err)
	}
	s.Close()
	if _, err = c.Identity(context.Background()); err == nil || !strings.HasPrefix(err.Error(), "no answer from the API server "+s.URL+": ") {
		t.Errorf("of a server that is down: %v", err)
	}
}

// TestPauseIsForAll: an overloaded server gets no other request during its pause. A server whose
// storage for one kind is not ready, which may last forever, still answers about all others. (L38)
func TestPauseIsForAll(t *testing.T) {
	for name, c := range map[string]struct {
		refuse http.HandlerFunc
		want   []string
	}{
		"overloaded": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
		}, []string{"the first waits", "7s", "7s"}}, // the other one waits the 7 s before it is sent
		"one kind": {refuse(429, metav1.StatusReasonTooManyRequests, after(7)), []string{"the first waits", "7s"}},
	} {
		t.Run(name, func(t *testing.T) { testPause(t, c.refuse, c.want) })
	}
}

func testPause(t *testing.T, refuse http.HandlerFunc, want []string) {
	t.Helper()
	s, c := ready(t)
	s.on(settingsPath, refuse)
	s.on("/api/v1/namespaces/shop/configmaps/other", one(named("other"), "1"))
	var order []string
	wait := c.wait
	c.wait = func(done <-chan struct{}, d time.Duration) {
		if d > 0 && len(order) == 0 {
			order = append(order, "the first waits")
			other := settings
			other.Name = "other"
			if _, err := c.Get(context.Background(), other); err != nil {
				t.Error(err)
			}
			s.on(settingsPath, one(named("settings"), "1"))
		}
		order = append(order, d.String())
		wait(done, d)
	}
	if _, err := c.Get(context.Background(), settings); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(order, want) {
		t.Errorf("waited %q, want %q", order, want)
	}
}

// TestRepeatedWrite: the last error of a write that was sent more than once is marked as repeated.
// The error of a single attempt is not.
func TestRepeatedWrite(t *testing.T) {
	for name, c := range map[string]struct {
		answers  []http.HandlerFunc
		repeated bool
	}{
		"repeated":  {[]http.HandlerFunc{refuse(429, metav1.StatusReasonTooManyRequests, after(7)), refuse(409, metav1.StatusReasonConflict)}, true},
		"sent once": {[]http.HandlerFunc{refuse(409, metav1.StatusReasonConflict)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := ready(t)
			s.on(settingsPath, c.answers...)
			err := client.Delete(context.Background(), settings, metav1.DeleteOptions{})
			if _, repeated := errors.AsType[*RepeatedError](err); repeated != c.repeated || !apierrors.IsConflict(err) {
				t.Errorf("%T %v", err, err)
			}
		})
	}
}

// TestRaw: a backup has exactly the bytes of the server, and only those of an object.
func TestRaw(t *testing.T) {
	s, c := ready(t)
	text := ` {"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"settings","namespace":"shop","uid":"u","resourceVersion":"12"},"data":{"n":"1e999"}}` + "\n"
	s.on(settingsPath, answer200(jsonType, []byte(text)))
	got, o, err := c.Raw(context.Background(), settings)
	if err != nil || string(got) != text || o.UID != "u" || o.ResourceVersion != "12" {
		t.Errorf("%s, %+v, %v", got, o, err)
	}
	for name, answer := range map[string]http.HandlerFunc{
		"a page":         answer200("text/html", []byte("<html>")),
		"a part":         answer200(jsonType, []byte(text[:60])),
		"another kind":   answer200(jsonType, []byte(`{"kind":"Secret","apiVersion":"v1","metadata":{"name":"settings","namespace":"shop"}}`)),
		"another object": answer200(jsonType, []byte(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"other","namespace":"shop"}}`)),
		"metadata":       one(named("settings"), "1"),
	} {
		t.Run(name, func(t *testing.T) {
			s.on(settingsPath, answer)
			if got, _, err := c.Raw(context.Background(), settings); err == nil || got != nil {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}

// TestCreate: the created object is the one that the server returns, and nothing is overwritten.
func TestCreate(t *testing.T) {
	s, c := ready(t)
	const text = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"settings","namespace":"shop","uid":"u"},"data":{"a":"b"}}`
	s.on(shopConfigMaps, answer200(jsonType, []byte(text)))
	raw, o, err := c.Create(context.Background(), settings, []byte("{}"), true)
	if err != nil || string(raw) != text || o.UID != "u" {
		t.Errorf("%s, %+v, %v", raw, o, err)
	}
	s.on(shopConfigMaps, refuse(409, metav1.StatusReasonAlreadyExists))
	if _, _, err := c.Create(context.Background(), settings, []byte("{}"), false); !apierrors.IsAlreadyExists(err) {
		t.Error(err)
	}
	if asked := s.requests("POST"); !slices.Equal(asked, []string{"POST " + shopConfigMaps + "?dryRun=All", "POST " + shopConfigMaps}) {
		t.Errorf("asked %q", asked)
	}
}

func TestPatchRaw(t *testing.T) {
	s, c := ready(t)
	var sent string
	s.on(settingsPath+"/status", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = r.Method + " " + r.URL.RawQuery + " " + r.Header.Get("Content-Type") + " " + string(body)
		one(named("settings"), "13")(w, r)
	})
	if err := c.PatchRaw(context.Background(), settings, "status", types.JSONPatchType, []byte("[]"), true); err != nil {
		t.Fatal(err)
	}
	if want := "PATCH dryRun=All application/json-patch+json []"; sent != want {
		t.Errorf("sent %q", sent)
	}
}
