package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

var served = []object.Resource{
	{Version: "v1", Name: "namespaces", Kind: "Namespace", Verbs: object.AllVerbs},
	{Version: "v1", Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: object.AllVerbs},
	{Group: "old.example.com", Version: "v1", Name: "things", Kind: "Thing", Namespaced: true, Verbs: object.AllVerbs},
}

// server is a fake cluster that creates objects and records requests.
type server struct {
	*facade.Server
	resources *object.Resources

	mu sync.Mutex
	// forbidden are verbs and resources, as "create configmaps".
	forbidden []string
	// asked are the paths that were read; tried and stored are the writes: verb, resource, name and
	// body.
	asked, tried, stored []string
}

// cluster starts a server with these objects in namespace shop.
func testCluster(t *testing.T, objects ...*object.Object) (*server, *kube.Client) {
	t.Helper()
	rs := &object.Resources{}
	for _, r := range served {
		rs.Add(r)
	}
	shop := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "Namespace", Name: "shop", UID: "u-shop"}}
	s := &server{Server: facade.New(append(objects, shop), rs, facade.Documents(served)), resources: rs}
	front := httptest.NewServer(s)
	t.Cleanup(front.Close)
	client, err := kube.Connect(&rest.Config{Host: front.URL}, kube.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return s, client
}

// ServeHTTP answers reviews and writes itself.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	verb := map[string]string{http.MethodPost: "create", http.MethodPatch: "patch"}[r.Method]
	if verb == "" {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.EscapedPath())
		s.mu.Unlock()
		s.Server.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") {
		s.review(w, body)
		return
	}
	t, ok := facade.TargetOf(s.resources, strings.Trim(r.URL.Path, "/"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	right := verb + " " + t.Resource.Name
	if slices.Contains(s.forbidden, right) {
		facade.Refuse(w, apierrors.NewForbidden(t.Resource.GroupResource(), t.Name, fmt.Errorf("you may not %s", right)))
		return
	}
	var o map[string]any
	if err := json.Unmarshal(body, &o); err != nil {
		panic(err)
	}
	metadata := o["metadata"].(map[string]any)
	ref := object.Ref{APIVersion: t.Resource.APIVersion(), Kind: t.Resource.Kind, Namespace: t.Namespace, Name: t.Name}
	if t.Name == "" {
		t.Name = metadata["name"].(string)
		ref.Name = t.Name
		metadata["uid"] = "new-" + t.Name
		if _, err := s.Sim.Get(r.Context(), ref); err == nil {
			facade.Refuse(w, apierrors.NewAlreadyExists(t.Resource.GroupResource(), t.Name))
			return
		}
	}
	if now, err := s.Sim.Get(r.Context(), ref); verb == "patch" && err == nil && metadata["resourceVersion"] != now.ResourceVersion {
		facade.Refuse(w, apierrors.NewConflict(t.Resource.GroupResource(), t.Name, errors.New("the object has been modified")))
		return
	}
	line := right + " " + t.Name + " " + string(body)
	if r.URL.Query().Get("dryRun") == "All" {
		s.tried = append(s.tried, line)
	} else {
		s.stored = append(s.stored, line)
	}
	w.Header().Set("Content-Type", "application/json")
	metadata["resourceVersion"], metadata["name"], metadata["namespace"] = "100", t.Name, t.Namespace
	o["apiVersion"], o["kind"] = "meta.k8s.io/v1", "PartialObjectMetadata"
	if err := json.NewEncoder(w).Encode(o); err != nil {
		panic(err)
	}
}

func (s *server) review(w http.ResponseWriter, body []byte) {
	var review struct {
		Spec struct {
			ResourceAttributes struct{ Verb, Resource string } `json:"resourceAttributes"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(body, &review); err != nil {
		panic(err)
	}
	a := review.Spec.ResourceAttributes
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1","status":{"allowed":%v}}`,
		!slices.Contains(s.forbidden, a.Verb+" "+a.Resource))
}

// one returns a saved object of namespace shop.
func one(apiVersion, kind, name string, owners ...object.OwnerReference) *object.Object {
	return &object.Object{
		Ref:    object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: "shop", Name: name, UID: types.UID("u-" + name)},
		Owners: owners, ResourceVersion: "1",
	}
}

func to(o *object.Object) object.OwnerReference {
	return object.OwnerReference{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: o.UID}
}

// backup saves objects as a run does, and returns the directory.
func backup(t *testing.T, actions map[*object.Object]Action) string {
	t.Helper()
	w, err := Create(filepath.Join(t.TempDir(), "backups"), Head{
		Command: "delete", PlanDigest: "sha256:" + strings.Repeat("0", 64), Created: time.Unix(1, 0), Cluster: Cluster{UID: "cluster"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for o, action := range actions {
		addObject(t, w, o, action)
	}
	closeBackup(t, w)
	return w.Path()
}

// addObject saves one object.
func addObject(t *testing.T, w *Writer, o *object.Object, action Action) {
	t.Helper()
	var owners []map[string]any
	for _, r := range o.Owners {
		owners = append(owners, map[string]any{"apiVersion": r.APIVersion, "kind": r.Kind, "name": r.Name, "uid": r.UID, "controller": r.Controller == object.True})
	}
	raw, err := json.Marshal(map[string]any{"apiVersion": o.APIVersion, "kind": o.Kind, "metadata": map[string]any{
		"namespace": o.Namespace, "name": o.Name, "uid": o.UID, "resourceVersion": o.ResourceVersion, "ownerReferences": owners,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Add(o.Ref, action, raw); err != nil {
		t.Fatal(err)
	}
}

// closeBackup finishes a backup.
func closeBackup(t *testing.T, w *Writer) {
	t.Helper()
	if err := w.Seal(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(time.Unix(2, 0)); err != nil {
		t.Fatal(err)
	}
}

func planned(t *testing.T, client *kube.Client, dir string) *Undo {
	t.Helper()
	u, err := planWith(t, client, dir)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func planWith(t *testing.T, client *kube.Client, dir string) (*Undo, error) {
	t.Helper()
	return PlanUndo(t.Context(), client, kube.Identity{ClusterUID: "cluster"}, dir, UndoPlanOptions{})
}

// remove deletes an object without a request.
func (s *server) remove(t *testing.T, o *object.Object) {
	t.Helper()
	if err := s.Change(func() error { return s.Sim.Delete(context.Background(), o.Ref, deleteOptions) }); err != nil {
		t.Fatal(err)
	}
}
