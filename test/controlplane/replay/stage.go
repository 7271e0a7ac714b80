// Package replay puts the requests of scenario files to a real API server and
// compares every answer, and the world after it, with what the files say.
package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// stage is a control plane on which one world stands at a time.
type stage struct {
	*cluster.Cluster
	// props are the keys of what is in storage because of the world.
	props map[string]bool
	// defined tells that the definitions are those that every world starts with.
	defined bool
	fences  int
}

func open() (*stage, error) {
	c, err := cluster.Start()
	if err != nil {
		return nil, err
	}
	return &stage{Cluster: c, props: map[string]bool{}}, nil
}

// definitions stand in every world that does not list them itself.
var definitions = []string{"widgets.example.com", "gadgets.example.com"}

// systemNamespaces are there in every cluster.
var systemNamespaces = []string{"default", "kube-system", "kube-public", "kube-node-lease"}

// set replaces the world.
func (s *stage) set(ctx context.Context, objects []*object.Object, resources *object.Resources) error {
	var keys []string
	for key := range s.props {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	if len(keys) > 0 {
		if err := s.Wipe(keys...); err != nil {
			return err
		}
	}
	s.props = map[string]bool{}
	objects = append(furniture(objects, !s.defined), objects...)
	s.defined = true
	var all []cluster.Stored
	for _, o := range objects {
		r, err := resources.For(o.APIVersion, o.Kind)
		if err != nil {
			return err
		}
		one, err := stored(r, o)
		if err != nil {
			return err
		}
		isFurniture := strings.HasPrefix(string(o.UID), furnitureUID)
		if o.Kind == "CustomResourceDefinition" && !isFurniture {
			s.defined = false
		}
		if !isFurniture || o.Kind == "Namespace" && !slices.Contains(systemNamespaces, o.Name) {
			s.props[one.Key] = true
		}
		all = append(all, one)
	}
	if err := s.Store(all); err != nil {
		return err
	}
	for _, path := range []string{"/apis/example.com/v1/widgets", "/apis/example.com/v1/gadgets"} {
		if err := s.await(ctx, path); err != nil {
			return err
		}
	}
	for _, o := range objects {
		if o.Kind == "Namespace" {
			if err := s.noticed(ctx, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// noticed waits until admission, which knows namespaces from a watch, knows whether
// one is being deleted.
func (s *stage) noticed(ctx context.Context, namespace *object.Object) error {
	want := 0
	if n := namespace.NamespaceFacts(); n != nil && n.Phase == "Terminating" {
		want = http.StatusForbidden
	}
	path := "/api/v1/namespaces/" + namespace.Name + "/configmaps?dryRun=All"
	return cluster.Await(ctx, "admission knows namespace "+namespace.Name, func(ctx context.Context) (bool, error) {
		_, err := s.Do(ctx, http.MethodPost, path, "application/json", []byte(`{"metadata":{"generateName":"probe-"}}`))
		if code := cluster.Code(err); code != 0 || err == nil {
			return code == want, nil
		}
		return false, err
	})
}

// furnitureUID begins the UID of what no file speaks of.
const furnitureUID = "furniture-"

// furniture is what a world needs and does not list: the namespaces of a world
// that lists none, those of the system, and definitions.
func furniture(objects []*object.Object, define bool) []*object.Object {
	listed, named := map[string]bool{}, map[string]bool{}
	lists := false
	for _, o := range objects {
		listed[o.Kind+"/"+o.Name] = true
		lists = lists || o.Kind == "Namespace"
		define = define || o.Kind == "CustomResourceDefinition"
		if o.Namespace != "" {
			named[o.Namespace] = true
		}
	}
	var all []*object.Object
	add := func(apiVersion, kind, name string) {
		if !listed[kind+"/"+name] {
			all = append(all, &object.Object{Ref: object.Ref{APIVersion: apiVersion, Kind: kind, Name: name, UID: furnitureUID + types.UID(name)}})
			listed[kind+"/"+name] = true
		}
	}
	for _, name := range systemNamespaces {
		add("v1", "Namespace", name)
	}
	for name := range named {
		if !lists {
			add("v1", "Namespace", name)
		}
	}
	for _, name := range definitions {
		if define {
			add("apiextensions.k8s.io/v1", "CustomResourceDefinition", name)
		}
	}
	return all
}

// await waits until a path is served.
func (s *stage) await(ctx context.Context, path string) error {
	return cluster.Await(ctx, path+" is served", func(ctx context.Context) (bool, error) {
		_, err := s.Do(ctx, http.MethodGet, path, "", nil)
		if code := cluster.Code(err); code == http.StatusNotFound || code == http.StatusTooManyRequests {
			return false, nil
		}
		return true, err
	})
}

// pause waits, as long as somebody waits for the outcome.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reply is what a server says.
type reply struct {
	status   metav1.Status // of a refusal
	body     []byte
	warnings []string
}

func (r reply) refused() bool { return r.status.Code >= http.StatusBadRequest }

// ask sends a request as administrator.
func (s *stage) ask(ctx context.Context, method, path, contentType string, body []byte) (reply, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.URL+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	request.Header.Set("Authorization", "Bearer "+s.Token)
	request.Header.Set("Accept", "application/json")
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	answer, err := s.Client().Do(request)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	r := reply{}
	for _, header := range answer.Header.Values("Warning") {
		text, err := warningText(header)
		if err != nil {
			return reply{}, err
		}
		r.warnings = append(r.warnings, text)
	}
	if r.body, err = io.ReadAll(answer.Body); err != nil {
		return reply{}, err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		// A path that is not served is answered in plain text.
		if json.Unmarshal(r.body, &r.status) != nil || r.status.Code == 0 {
			r.status = metav1.Status{Code: int32(answer.StatusCode), Message: string(r.body)}
		}
	}
	return r, nil
}

// warningText is the text in `299 - "text"`.
func warningText(header string) (string, error) {
	_, quoted, ok := strings.Cut(header, "- ")
	if !ok || len(quoted) < 2 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
		return "", fmt.Errorf("%q is no warning", header)
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1]), nil
}

// root is where a group and version is served.
func root(r object.Resource) string {
	if r.Group == "" {
		return "/api/" + r.Version
	}
	return "/apis/" + r.Group + "/" + r.Version
}

// errClient says that a request is refused before it is made.
var errClient = errors.New("no request is made")

// pathOf is the address of an object, or of a collection when it has no name.
func pathOf(e *scenario.Env, ref object.Ref) (string, object.Resource, error) {
	r, err := e.Server.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		return "", r, errClient
	}
	path := root(r)
	if r.Namespaced && ref.Namespace != "" {
		path += "/namespaces/" + ref.Namespace
	} else if r.Namespaced && ref.Name != "" {
		return "", r, errClient
	}
	path += "/" + r.Name
	if ref.Name != "" {
		path += "/" + ref.Name
	}
	return path, r, nil
}
