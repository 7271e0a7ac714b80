// Package controller runs the controller of the program, as a process, on a real
// control plane whose own collector is off.
package controller

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

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

var (
	// plane is the control plane of all tests. It has no controllers.
	plane *cluster.Cluster
	// program is the program, as it is now.
	program string
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if program, err = cluster.Program(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return cluster.Main(m, &plane)
}

// body is a manifest.
type body = map[string]any

// space makes a namespace for a test.
func space(t *testing.T) string {
	t.Helper()
	name := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(t.Name()), "-"), "-")
	post(t, "/api/v1/namespaces", body{"metadata": body{"name": name}})
	t.Cleanup(func() { // so that the controller of the next test has nothing to do here, or to say of it
		var left []string
		for _, kind := range []string{"configmaps", "secrets", "pods", "replicasets", "deployments", "persistentvolumeclaims"} {
			left = append(left, kind+"/"+name+"/")
		}
		if err := plane.Wipe(left...); err != nil {
			t.Error(err)
		}
	})
	return name
}

func ask(t *testing.T, method, path string, o body) ([]byte, error) {
	t.Helper()
	var text []byte
	if o != nil {
		var err error
		if text, err = json.Marshal(o); err != nil {
			t.Fatal(err)
		}
	}
	// The context of a test ends before what the test cleans up.
	return plane.Do(context.WithoutCancel(t.Context()), method, path, "application/json", text)
}

// meta is what is looked at of objects.
type meta struct {
	Name, UID, ResourceVersion string
	DeletionTimestamp          string
	Finalizers                 []string
	OwnerReferences            []struct{ UID string }
}

func parse(t *testing.T, text []byte) meta {
	t.Helper()
	var o struct{ Metadata meta }
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return o.Metadata
}

// post creates an object. A kind that is new takes a moment to be served.
func post(t *testing.T, path string, o body) meta {
	t.Helper()
	var m meta
	until(t, "created at "+path, func() bool {
		text, err := ask(t, http.MethodPost, path, o)
		if code := cluster.Code(err); code == http.StatusTooManyRequests || code == http.StatusNotFound {
			return false
		} else if err != nil {
			t.Fatal(err)
		}
		m = parse(t, text)
		return true
	})
	return m
}

// configMap creates a ConfigMap with owners.
func configMap(t *testing.T, namespace, name string, owners ...body) meta {
	t.Helper()
	return post(t, "/api/v1/namespaces/"+namespace+"/configmaps", body{"metadata": body{"name": name, "ownerReferences": owners}})
}

// mapOwner is a reference to a ConfigMap.
func mapOwner(name, uid string) body {
	return body{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid}
}

// absent is a reference to a ConfigMap that was never there.
func absent() body { return mapOwner("never", "00000000-0000-0000-0000-000000000000") }

func path(namespace, resource, name string) string {
	return "/api/v1/namespaces/" + namespace + "/" + resource + "/" + name
}

// get reads an object; nil when it is not there.
func get(t *testing.T, path string) *meta {
	t.Helper()
	text, err := ask(t, http.MethodGet, path, nil)
	if cluster.Code(err) == http.StatusNotFound {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	m := parse(t, text)
	return &m
}

// list lists a collection.
func list(t *testing.T, path string) []meta {
	t.Helper()
	text, err := ask(t, http.MethodGet, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	var l struct{ Items []struct{ Metadata meta } }
	if err := json.Unmarshal(text, &l); err != nil {
		t.Fatal(err)
	}
	all := make([]meta, len(l.Items))
	for i := range l.Items {
		all[i] = l.Items[i].Metadata
	}
	return all
}

// count counts the ConfigMaps whose names begin so.
func count(t *testing.T, namespace, prefix string) int {
	t.Helper()
	n := 0
	for _, m := range list(t, "/api/v1/namespaces/"+namespace+"/configmaps") {
		if strings.HasPrefix(m.Name, prefix) {
			n++
		}
	}
	return n
}

// remove deletes with a policy.
func remove(t *testing.T, path, policy string) {
	t.Helper()
	if _, err := ask(t, http.MethodDelete, path, body{"propagationPolicy": policy}); err != nil {
		t.Fatal(err)
	}
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	cluster.Until(t, what, holds)
}

// allowed waits until the server knows that a user may do something: it takes a moment
// to notice roles.
func allowed(t *testing.T, user string, attributes body) {
	t.Helper()
	until(t, fmt.Sprintf("%s may %v", user, attributes), func() bool {
		text, err := ask(t, http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", body{
			"spec": body{"user": user, "resourceAttributes": attributes},
		})
		if err != nil {
			t.Fatal(err)
		}
		var answer struct{ Status struct{ Allowed bool } }
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Fatal(err)
		}
		return answer.Status.Allowed
	})
}
