package object_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

func TestShortName(t *testing.T) {
	for _, test := range []struct{ apiVersion, kind, want string }{
		{"v1", "Pod", "pod/x"}, {"v1", "PersistentVolumeClaim", "pvc/x"}, {"apps/v1", "Deployment", "deploy/x"},
		{"batch/v1", "Job", "job/x"}, {"example.com/v1", "Deployment", "deployment.example.com/x"},
		{"rbac.authorization.k8s.io/v1", "Role", "role.rbac.authorization.k8s.io/x"},
	} {
		r := object.Ref{APIVersion: test.apiVersion, Kind: test.kind, Namespace: "n", Name: "x"}
		if got := r.ShortName(); got != test.want {
			t.Errorf("%s %s: %s, want %s", test.apiVersion, test.kind, got, test.want)
		}
	}
	if got := (object.Ref{UID: "u"}).ShortName(); got != "uid u" {
		t.Errorf("a uid: %s", got)
	}
}

// TestShortKindsAreKubectls: what is shown as a short name is one that Kubernetes serves
// for that kind and no other.
func TestShortKindsAreKubectls(t *testing.T) {
	means := map[string]object.Resource{}
	for _, r := range snapshot.BuiltinResources().All() {
		for _, name := range append(r.ShortNames, r.Singular) {
			if _, taken := means[name]; !taken {
				means[name] = r
			}
		}
	}
	short := 0
	for _, r := range snapshot.BuiltinResources().All() {
		name := object.ShortKind(r.APIVersion(), r.Kind)
		if name == "" {
			continue
		}
		short++
		if means[name].Kind != r.Kind || means[name].Group != r.Group {
			t.Errorf("%s is said of %s %s, and means %s %s", name, r.APIVersion(), r.Kind, means[name].APIVersion(), means[name].Kind)
		}
	}
	if short < 18 {
		t.Errorf("only %d kinds have a short name", short)
	}
}
