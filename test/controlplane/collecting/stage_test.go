// Package collecting has the collector of the program collect on a real control
// plane whose own collector is off: what the tests of Kubernetes want of a
// collector, what Kubernetes' own loses of living owners, and what it costs.
package collecting

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// plane is the control plane that tests share.
var plane *cluster.Cluster

func TestMain(m *testing.M) {
	flag.Parse()
	if kubeconfig := os.Getenv(residentVariable); kubeconfig != "" {
		os.Exit(reside(kubeconfig))
	}
	os.Exit(cluster.Main(m, &plane))
}

// stage is a namespace of one test, or a whole control plane of its own.
type stage struct {
	*cluster.Cluster
	t         testing.TB
	namespace string
	uid       string // of the namespace, once it was asked for
	fences    int
	// public is the collector for tests, where that is the one at work.
	public *public
	// unreadable: there is a kind that cannot be read.
	unreadable bool
}

var separators = regexp.MustCompile(`[^a-z0-9]+`)

// share makes a namespace in the plane of all tests.
func share(t testing.TB) *stage {
	t.Helper()
	return enter(t, plane)
}

// own starts a control plane for one test.
func own(t testing.TB, options ...cluster.Option) *stage {
	t.Helper()
	c, err := cluster.Start(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	return enter(t, c)
}

func enter(t testing.TB, c *cluster.Cluster) *stage {
	t.Helper()
	s := &stage{Cluster: c, t: t}
	s.namespace = s.space(named(t.Name()))
	return s
}

// named is the name of a namespace for something with this name.
func named(name string) string {
	return strings.Trim(separators.ReplaceAllString(strings.ToLower(name), "-"), "-")
}

// space makes a namespace.
func (s *stage) space(name string) string {
	s.t.Helper()
	name = name[max(0, len(name)-60):]
	name = strings.Trim(name, "-")
	s.post("/api/v1/namespaces", body{"metadata": body{"name": name}})
	return name
}

// body is a manifest.
type body = map[string]any

// at is the path of a resource of the core group in the namespace of the stage, or
// of one of its objects.
func (s *stage) at(resource string, name ...string) string {
	return place("/api/v1", s.namespace, resource, name...)
}

// place is a path in a namespace.
func place(root, namespace, resource string, name ...string) string {
	return strings.Join(append([]string{root, "namespaces", namespace, resource}, name...), "/")
}

// post creates an object and returns its uid.
func (s *stage) post(path string, o body) string {
	s.t.Helper()
	return s.parse(s.must(http.MethodPost, path, "application/json", manifest(s.t, o))).UID
}

// manifest is an object as JSON.
func manifest(t testing.TB, o body) string {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (s *stage) must(method, path, contentType, body string) []byte {
	s.t.Helper()
	text, err := s.ask(method, path, contentType, body)
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

func (s *stage) ask(method, path, contentType, body string) (answer []byte, err error) {
	s.until("the kind is served", func() bool { // one that is new has to be read from storage first
		answer, err = s.Do(context.WithoutCancel(s.t.Context()), method, path, contentType, []byte(body))
		return cluster.Code(err) != http.StatusTooManyRequests
	})
	return answer, err
}

// remove deletes with a policy.
func (s *stage) remove(path, policy string) {
	s.t.Helper()
	s.must(http.MethodDelete, path, "application/json", `{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"`+policy+`"}`)
}

func (s *stage) patch(path, body string) {
	s.t.Helper()
	s.must(http.MethodPatch, path, "application/merge-patch+json", body)
}

// meta is what the tests look at in an object.
type meta struct {
	Name              string   `json:"name"`
	UID               string   `json:"uid"`
	ResourceVersion   string   `json:"resourceVersion"`
	DeletionTimestamp string   `json:"deletionTimestamp"`
	Finalizers        []string `json:"finalizers"`
	OwnerReferences   []owner  `json:"ownerReferences"`
}

// owner is an owner reference.
type owner struct {
	APIVersion         string `json:"apiVersion"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	UID                string `json:"uid"`
	BlockOwnerDeletion *bool  `json:"blockOwnerDeletion,omitempty"`
}

// blocking is a reference that blocks.
func (o owner) blocking() owner {
	yes := true
	o.BlockOwnerDeletion = &yes
	return o
}

func (s *stage) parse(text []byte) meta {
	s.t.Helper()
	var o struct {
		Metadata meta `json:"metadata"`
	}
	if err := json.Unmarshal(text, &o); err != nil {
		s.t.Fatal(err)
	}
	return o.Metadata
}

// get reads an object and reports whether it is there.
func (s *stage) get(path string) (meta, bool) {
	s.t.Helper()
	text, err := s.ask(http.MethodGet, path, "", "")
	if cluster.Code(err) == http.StatusNotFound {
		return meta{}, false
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return s.parse(text), true
}

// gone reports whether an object, or a path, is not there.
func (s *stage) gone(path string) bool {
	s.t.Helper()
	_, there := s.get(path)
	return !there
}

// list reads the metadata of all objects of a resource.
func (s *stage) list(path string) []meta {
	s.t.Helper()
	var l struct {
		Items []struct {
			Metadata meta `json:"metadata"`
		} `json:"items"`
	}
	if err := json.Unmarshal(s.must(http.MethodGet, path, "", ""), &l); err != nil {
		s.t.Fatal(err)
	}
	all := make([]meta, len(l.Items))
	for i, item := range l.Items {
		all[i] = item.Metadata
	}
	return all
}

// stays makes sure that an object is there, the same one, not being deleted, with
// exactly these owners.
func (s *stage) stays(path, uid string, owners ...owner) {
	s.t.Helper()
	o, there := s.get(path)
	if !there || o.UID != uid || o.DeletionTimestamp != "" {
		s.t.Errorf("%s: there: %t, uid %s (want %s), being deleted since %q", path, there, o.UID, uid, o.DeletionTimestamp)
		return
	}
	s.owned(path, o, owners...)
}

func (s *stage) owned(path string, o meta, owners ...owner) {
	s.t.Helper()
	have, want := make([]string, len(o.OwnerReferences)), make([]string, len(owners))
	for i, r := range o.OwnerReferences {
		have[i] = r.UID
	}
	for i, r := range owners {
		want[i] = r.UID
	}
	if strings.Join(have, " ") != strings.Join(want, " ") {
		s.t.Errorf("%s: the owners are %v, want %v", path, have, want)
	}
}

// fence returns when the collector has begun with everything that the watch of a
// resource had shown it before.
func (s *stage) fence(resource string) {
	s.t.Helper()
	s.fences++
	name := fmt.Sprintf("fence-%d", s.fences)
	nobody := owner{APIVersion: "v1", Kind: "ServiceAccount", Name: name, UID: name}
	switch resource {
	case "pods":
		s.pod(name, nil, nobody)
	case "replicationcontrollers":
		s.controller(name, nobody)
	default:
		s.post(s.at(resource), body{"metadata": body{"name": name, "ownerReferences": []owner{nobody}}})
	}
	s.until("the garbage collector passes the fence", func() bool { return s.gone(s.at(resource, name)) })
}

func (s *stage) until(what string, holds func() bool) {
	s.t.Helper()
	cluster.Until(s.t, what, holds)
}

// dwell lets a time pass, where nothing tells that something has been looked at.
func (s *stage) dwell(d time.Duration) {
	s.t.Helper()
	begun := time.Now()
	s.until("time passes", func() bool { return time.Since(begun) > d })
}
