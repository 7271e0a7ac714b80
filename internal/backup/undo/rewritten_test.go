package undo

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestRewritten: of what a controller has changed because something else went an undo says whether
// that comes back with the other.
func TestRewritten(t *testing.T) {
	const role = "ClusterRole.rbac.authorization.k8s.io "
	changed := func(s Saved) Saved {
		s.Changed = true
		return s
	}
	account := `{"secrets":[{"name":"pull"},{"name":"ci-token"}]}`
	list := []Saved{
		changed(saved("ServiceAccount ci", account)), changed(saved("ServiceAccount whole", account)), changed(saved("ServiceAccount closed", account)),
		changed(saved(role+"all", `{"aggregationRule":{"clusterRoleSelectors":[]}}`)), changed(saved(role+"own", `{"rules":[{}]}`)),
	}
	c := clusterOf()
	for _, s := range list {
		c.objects[placeOf(s.Object)] = &object.Object{Ref: s.Object}
	}
	p := Resume(list, Cluster{Lookup: c.lookup, Content: func(r object.Ref) ([]byte, error) {
		now := map[string]string{"ci": `[{"name":"pull"}]`, "whole": `[{"name":"ci-token"},{"name":"pull"}]`}[r.Name]
		if now == "" {
			return nil, errors.New("forbidden")
		}
		return []byte(`{"metadata":{"uid":"` + string(r.UID) + `"},"secrets":` + now + `}`), nil
	}}, nil)
	got := map[string]string{}
	for _, s := range p.Skipped {
		got[s.Object.Name] = string(s.Reason) + " " + s.Detail
	}
	if diff := cmp.Diff(map[string]string{
		"ci": "SecretsLost ci-token", "whole": "StillAlive ", "closed": "StillAlive ", "all": "RulesComeBack ", "own": "StillAlive ",
	}, got); diff != "" || len(p.Steps) > 0 {
		t.Errorf("%v -want +got:\n%s", lines(p), diff)
	}
}
