package falseabsence

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// What `dry-run unserve` says of a version is what the collector of Kubernetes then
// does: whom it deletes, from whom it takes the reference, and whom it leaves alone,
// each under the condition that was named. Whose references were migrated with the
// patches of --fix, is safe.
func TestUnserveIsForetold(t *testing.T) {
	const group = "unserved.example.com"
	ours := func(text string) string { return strings.ReplaceAll(text, "example.com", group) }
	s := enter(t, "unserved")
	s.must(http.MethodPost, definitions, ours(definition(true)))
	if err := s.Serves(t.Context(), group, "things", "v1", "v2"); err != nil {
		t.Fatal(err)
	}
	thing := "/apis/" + group + "/v2/things"
	s.must(http.MethodPost, thing, `{"apiVersion":"`+group+`/v2","kind":"Thing","metadata":{"name":"owner"}}`)
	owner := s.uid(thing + "/owner")
	through := func(version string) string { return ref(group+"/"+version, "Thing", "owner", owner) }
	secret := func(name string) string {
		s.create(s.secrets(), name, "")
		return ref("v1", "Secret", name, s.uid(s.secrets()+"/"+name))
	}
	goes, stays := secret("goes"), secret("stays")
	s.create(s.configMaps(), "alone", through("v1"))
	s.create(s.configMaps(), "right", through("v2")+","+goes)
	s.create(s.configMaps(), "two", through("v1")+","+goes)
	s.create(s.configMaps(), "three", through("v1")+","+goes+","+stays)
	s.create(s.configMaps(), "migrated", through("v1")+","+goes)
	s.create(s.configMaps(), "blocked", through("v1"))
	blocks := strings.TrimSuffix(ref("v1", "ConfigMap", "blocked", s.uid(s.configMaps()+"/blocked")), "}") + `,"blockOwnerDeletion":true}`
	s.create(s.configMaps(), "blocks", blocks)
	s.create(s.configMaps(), "below", ref("v1", "ConfigMap", "blocked", s.uid(s.configMaps()+"/blocked")))

	doc := s.foretell(ours("things.example.com"), "v1")
	s.migrate(doc, "migrated")
	s.controllers(collector)
	s.fence()
	s.patch(definitions+"/"+ours("things.example.com"), ours(definition(false)))
	s.until("v1 is not served", func() bool {
		return s.code("/apis/"+group+"/v1/things/owner") == http.StatusNotFound
	})
	s.patch(s.configMaps()+"/blocks", `{"metadata":{"ownerReferences":null}}`)
	s.until("blocked is gone, of which a dependent let go", func() bool { return s.code(s.configMaps()+"/blocked") == http.StatusNotFound })
	s.must(http.MethodDelete, s.secrets()+"/goes", `{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"}`)
	for _, gone := range []string{"two", "below"} {
		s.until(gone+" is gone", func() bool { return s.code(s.configMaps()+"/"+gone) == http.StatusNotFound })
	}
	for _, pruned := range []string{"three", "right", "migrated"} {
		s.until(pruned+" was judged", func() bool { return !strings.Contains(s.text(pruned), `"goes"`) })
	}
	s.alive(thing+"/owner", owner)

	for name, want := range map[string]string{
		"alone": "kept with v1", "right": "kept with v2", "migrated": "kept with v2", "three": "pruned", "two": "gone", "blocked": "gone", "below": "gone",
	} {
		if got := s.end(name, group); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for _, said := range []struct {
		name, condition string
		outcome         report.Outcome
	}{
		{"blocked", "DependentReleased", report.Deleted}, {"two", "OwnerGoes", report.Deleted},
		{"three", "OwnerGoes", report.Pruned}, {"alone", "OwnerGoesLater", report.Kept},
	} {
		if !says(doc, said.name, said.condition, said.outcome) {
			t.Errorf("%s: nobody said %s under %s", said.name, said.outcome, said.condition)
		}
	}
	if !slices.ContainsFunc(doc.Consequences, func(c report.ExposureConsequence) bool {
		return c.Object.Name == "below" && c.Outcome == report.Deleted
	}) {
		t.Errorf("nobody said that below goes with blocked: %+v", doc.Consequences)
	}
	if !slices.ContainsFunc(doc.Safe, func(x report.SafeDependent) bool { return x.Object.Name == "right" && x.Reason == "OtherVersion" }) {
		t.Errorf("nobody said that right is safe: %+v", doc.Safe)
	}
}

// The collector watches a kind in its preferred version. When that one stops being
// served, new dependents are kept; but once the owner itself is looked at, because one of
// its dependents lets go of it, it is not found, and all that name it so are lost.
func TestUnservePreferredIsForetold(t *testing.T) {
	const group = "unpreferred.example.com"
	ours := func(text string) string { return strings.ReplaceAll(text, "example.com", group) }
	s := enter(t, "unpreferred")
	s.must(http.MethodPost, definitions, ours(definition(true)))
	if err := s.Serves(t.Context(), group, "things", "v1", "v2"); err != nil {
		t.Fatal(err)
	}
	thing := "/apis/" + group + "/v1/things"
	s.must(http.MethodPost, thing, `{"apiVersion":"`+group+`/v1","kind":"Thing","metadata":{"name":"owner"}}`)
	owner := s.uid(thing + "/owner")
	through := func(version string) string { return ref(group+"/"+version, "Thing", "owner", owner) }
	s.create(s.configMaps(), "alone", through("v2"))
	s.create(s.configMaps(), "right", through("v1"))
	s.create(s.configMaps(), "blocks", strings.TrimSuffix(through("v2"), "}")+`,"blockOwnerDeletion":true}`)

	doc := s.foretell(ours("things.example.com"), "v2")
	s.controllers(collector)
	s.fence()
	s.patch(definitions+"/"+ours("things.example.com"),
		strings.Replace(ours(definition(true)), `"name":"v2","served":true`, `"name":"v2","served":false`, 1))
	s.until("v2 is not served", func() bool {
		return s.code("/apis/"+group+"/v2/things/owner") == http.StatusNotFound
	})
	s.create(s.configMaps(), "new", through("v2"))
	s.fence()
	if got := s.end("new", group); got != "kept with v2" {
		t.Errorf("new: %s, want it kept", got)
	}
	s.patch(s.configMaps()+"/blocks", `{"metadata":{"ownerReferences":null}}`)
	for _, gone := range []string{"alone", "new"} {
		s.until(gone+" is gone", func() bool { return s.code(s.configMaps()+"/"+gone) == http.StatusNotFound })
	}
	s.fence()
	s.alive(thing+"/owner", owner)
	if got := s.end("right", group); got != "kept with v1" {
		t.Errorf("right: %s, want it kept", got)
	}
	if !says(doc, "alone", "OwnerLookedAt", report.Deleted) || len(doc.Owners) != 1 || doc.Owners[0].New != report.Kept {
		t.Errorf("alone was to be deleted when its owner is looked at, and new ones kept: %+v, %+v", doc.Dependents, doc.Owners)
	}
}

// foretell asks us about a version.
func (s *stage) foretell(name, version string) *report.Exposure {
	s.t.Helper()
	var out, errOut bytes.Buffer
	code := cli.Main(s.t.Context(), []string{"kubectl-gc", "dry-run", "unserve", name, version, "--fix", "-o", "json", "--kubeconfig=" + s.Kubeconfig},
		genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut})
	var doc report.Exposure
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil || code != 0 {
		s.t.Fatalf("exit code %d: %s%v", code, errOut.String(), err)
	}
	return &doc
}

// migrate sends the patch of one object, twice: the second time its test fails.
func (s *stage) migrate(doc *report.Exposure, name string) {
	s.t.Helper()
	i := slices.IndexFunc(doc.Patches, func(p report.ReferencePatch) bool { return p.Object.Name == name })
	if i < 0 {
		s.t.Fatalf("no patch for %s: %+v", name, doc.Patches)
	}
	send := func() error {
		_, err := s.Do(s.t.Context(), http.MethodPatch, s.configMaps()+"/"+name, "application/json-patch+json", []byte(doc.Patches[i].Patch))
		return err
	}
	if err := send(); err != nil {
		s.t.Fatal(err)
	}
	if err := send(); err == nil {
		s.t.Errorf("%s: the patch of a reference that is not there any more was accepted", name)
	}
}

func (s *stage) text(name string) string {
	s.t.Helper()
	return string(s.must(http.MethodGet, s.configMaps()+"/"+name, ""))
}

// end is what is left of a dependent.
func (s *stage) end(name, group string) string {
	s.t.Helper()
	if s.code(s.configMaps()+"/"+name) == http.StatusNotFound {
		return "gone"
	}
	for _, version := range []string{"v1", "v2"} {
		if strings.Contains(s.text(name), group+"/"+version) {
			return "kept with " + version
		}
	}
	return "pruned"
}

func says(doc *report.Exposure, name, condition string, outcome report.Outcome) bool {
	return slices.ContainsFunc(doc.Dependents, func(d report.ExposedDependent) bool {
		return d.Object.Name == name && slices.ContainsFunc(d.When, func(x report.Exposed) bool {
			return x.Condition == condition && x.Outcome == outcome
		})
	})
}
