package undo

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// TestRewritten: for an object that a controller changed because of a deletion, an undo reports
// whether restoring the other object reverts that.
func TestRewritten(t *testing.T) {
	const role = "ClusterRole.rbac.authorization.k8s.io "
	changed := func(s Saved) Saved {
		s.Changed = true
		return s
	}
	account := `{"secrets":[{"name":"pull"},{"name":"ci-token"}]}`
	list := []Saved{
		changed(saved("ServiceAccount ci", account)), changed(saved("ServiceAccount half", `{"secrets":[{"name":"old"},{"name":"other"},{"name":"made"}]}`)), saved("Secret made", `{"data":{}}`),
		changed(saved("ServiceAccount whole", account)), changed(saved("ServiceAccount closed", account)),
		changed(saved(role+"all", `{"aggregationRule":{"clusterRoleSelectors":[]}}`)), changed(saved(role+"own", `{"rules":[{}]}`)),
	}
	c := clusterOf()
	other := saved("Secret other", "").Object
	c.objects[other.Coordinates()] = &object.Object{Ref: other}
	for _, s := range list {
		if !s.Changed {
			continue
		}
		c.objects[s.Object.Coordinates()] = &object.Object{Ref: s.Object}
	}
	p := Resume(list, Cluster{Lookup: c.lookup, Content: func(r object.Ref) ([]byte, error) {
		now := map[string]string{"ci": `[{"name":"pull"}]`, "half": `[{"name":"new"}]`, "whole": `[{"name":"ci-token"},{"name":"pull"}]`}[r.Name]
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
	}, got); diff != "" {
		t.Errorf("%v -want +got:\n%s", lines(p), diff)
	}
	give := p.Steps[len(p.Steps)-1]
	if len(p.Steps) != 2 || p.Steps[0].Object.Name != "made" || give.Verb != Secrets || !slices.Equal(give.Secrets, []string{"other", "made"}) || !slices.Contains(give.Notes, reason.SecretsLost) {
		t.Fatalf("%v: %q, %v", lines(p), give.Secrets, give.Notes)
	}
	now := *give.Live()
	now.Ref.UID, now.ResourceVersion = "u", "7"
	patch, _, err := give.OverwriteOf(&Mapping{}, &now, []byte(`{"secrets":[{"name":"new"},{"name":"made"}]}`))
	if want := `{"metadata":{"resourceVersion":"7","uid":"u"},"secrets":[{"name":"new"},{"name":"made"},{"name":"other"}]}`; err != nil || string(patch) != want {
		t.Errorf("%s, %v", patch, err)
	}
}
