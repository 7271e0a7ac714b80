package falseabsence

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// What a dump says of an owner that it has under another version, or in another group, is
// what the collector of Kubernetes does: as long as the owner is there its dependents stay,
// whether the version is served or not. What becomes of them when it goes is called unknown
// where the dump does not say what is served, and is the one or the other.
func TestOwnersUnderAnotherName(t *testing.T) {
	const served, unserved = "views.example.com", "hidden.example.com"
	s := enter(t, "views")
	in := func(group string) func(string) string {
		return func(text string) string { return strings.ReplaceAll(text, "example.com", group) }
	}
	s.must(http.MethodPost, definitions, in(served)(definition(true)))
	s.must(http.MethodPost, definitions, in(unserved)(definition(false)))
	if err := s.Serves(t.Context(), served, "things", "v1", "v2"); err != nil {
		t.Fatal(err)
	}
	if err := s.Serves(t.Context(), unserved, "things", "v2"); err != nil {
		t.Fatal(err)
	}
	const events = "/api/v1/namespaces/views/events"
	s.must(http.MethodPost, events, `{"metadata":{"name":"owner"},"involvedObject":{"namespace":"views"}}`)
	owners := map[string]string{"event": events + "/owner"}
	for name, group := range map[string]string{"served": served, "unserved": unserved} {
		owners[name] = "/apis/" + group + "/v2/things/owner"
		s.must(http.MethodPost, strings.TrimSuffix(owners[name], "/owner"), `{"apiVersion":"`+group+`/v2","kind":"Thing","metadata":{"name":"owner"}}`)
	}
	s.create(s.secrets(), "goes", "")
	goes := ref("v1", "Secret", "goes", s.uid(s.secrets()+"/goes"))
	for name, through := range map[string][2]string{"served": {served + "/v1", "Thing"}, "unserved": {unserved + "/v1", "Thing"}, "event": {"events.k8s.io/v1", "Event"}} {
		s.create(s.configMaps(), name, ref(through[0], through[1], "owner", s.uid(owners[name]))+","+goes)
	}

	snap := s.dump(s.configMaps(), s.secrets(), events, strings.TrimSuffix(owners["served"], "/owner"), strings.TrimSuffix(owners["unserved"], "/owner"))
	for name, want := range map[string]report.Outcome{"served": report.Kept, "unserved": report.Kept, "event": report.Kept} {
		if got := becomes(t, snap, plan.CollectSeed(), name); got != want {
			t.Errorf("%s is called %s as long as its owner is there, want %s", name, got, want)
		}
	}
	for name, want := range map[string]report.Outcome{"served": report.Unknown, "unserved": report.Unknown, "event": report.Deleted} {
		if got := becomes(t, snap, plan.DeleteSeed(engine.Background, ownerOf(snap, name), s.ref(snap, "Secret", "goes")), name); got != want {
			t.Errorf("%s is called %s when its owners go, want %s", name, got, want)
		}
	}

	s.controllers(collector)
	s.fence()
	background := `{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"}`
	s.must(http.MethodDelete, s.secrets()+"/goes", background)
	for _, name := range []string{"served", "event"} {
		s.until(name+" was judged", func() bool { return !strings.Contains(s.text(name), `"goes"`) })
	}
	s.fence()
	if text := s.text("unserved"); !strings.Contains(text, `"goes"`) || !strings.Contains(text, `"owner"`) {
		t.Errorf("unserved has lost a reference: %s", text)
	}
	for _, path := range owners {
		s.must(http.MethodDelete, path, background)
	}
	for _, name := range []string{"served", "event"} {
		s.until(name+" is gone", func() bool { return s.code(s.configMaps()+"/"+name) == http.StatusNotFound })
	}
	s.fence()
	if s.code(s.configMaps()+"/unserved") != http.StatusOK {
		t.Error("unserved is gone")
	}
}

// dump reads lists as kubectl would have written them, and nothing else.
func (s *stage) dump(paths ...string) *snapshot.Snapshot {
	s.t.Helper()
	dir := s.t.TempDir()
	for i, path := range paths {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", i)), s.must(http.MethodGet, path, ""), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	snap, err := snapshot.ReadFiles([]string{dir}, snapshot.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	return snap
}

func (s *stage) ref(snap *snapshot.Snapshot, kind, name string) object.Ref {
	o := snap.Find("v1", kind, s.namespace, name)
	if o == nil {
		s.t.Fatalf("%s %s is not in the dump", kind, name)
	}
	return o.Ref
}

// ownerOf is the object that has the uid of the first owner of a ConfigMap.
func ownerOf(snap *snapshot.Snapshot, name string) object.Ref {
	c := snap.Find("v1", "ConfigMap", "views", name)
	i := slices.IndexFunc(snap.Objects, func(o *object.Object) bool { return o.UID == c.Owners[0].UID })
	return snap.Objects[i].Ref
}

// becomes is the outcome of a ConfigMap; Kept where the plan does not speak of it.
func becomes(t *testing.T, snap *snapshot.Snapshot, seed plan.Seed, name string) report.Outcome {
	t.Helper()
	result, err := plan.Simulate(t.Context(), snap, seed, plan.Options{Record: plan.RecordRequests})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range result.Plan.Effects {
		if e.Object.Kind == "ConfigMap" && e.Object.Name == name {
			return e.Outcome
		}
	}
	return report.Kept
}

func (s *stage) text(name string) string {
	s.t.Helper()
	return string(s.must(http.MethodGet, s.configMaps()+"/"+name, ""))
}
