package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Rule: spec §3.3: the preferred version is the group's preferred one if it serves
// the resource, else the first that does.
//
// Covers: S187, S188
// TestCoreComesFirst: a plural that several groups have means that of the core group, as for kubectl, in whatever
// order the documents were read. The list of /apis has no core group.
func TestCoreComesFirst(t *testing.T) {
	list := func(groupVersion string, namespaced bool) []byte {
		return fmt.Appendf(nil, `{"kind":"APIResourceList","groupVersion":%q,"resources":[{"name":"nodes","kind":"Node","namespaced":%t,"verbs":["delete","list","watch"]}]}`, groupVersion, namespaced)
	}
	s, err := readBytes(tarOf(t, []txtar.File{
		{Name: "discovery/groups.json", Data: []byte(groupList("longhorn.io/v1beta2"))},
		{Name: "discovery/longhorn.json", Data: list("longhorn.io/v1beta2", true)},
		{Name: "discovery/v1.json", Data: list("v1", false)},
	}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if first := s.Resources.All()[0]; first.Group != "" {
		t.Errorf("first: %+v", first)
	}
}

func TestDiscoveryPrefersAsTheServerDoes(t *testing.T) {
	groups := `{"kind":"APIGroupList","apiVersion":"v1","groups":[
	 {"name":"batch","versions":[{"groupVersion":"batch/v1","version":"v1"},{"groupVersion":"batch/v1beta1","version":"v1beta1"}],
	  "preferredVersion":{"groupVersion":"batch/v1beta1","version":"v1beta1"}}]}`
	resources := `[
	 {"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","kind":"Pod","namespaced":true,"verbs":["list","watch"]},{"name":"pods/log","kind":"Pod","namespaced":true,"verbs":["get"]}]},
	 {"kind":"APIResourceList","groupVersion":"batch/v1","resources":[{"name":"jobs","kind":"Job","namespaced":true,"verbs":["delete","list","watch"]},{"name":"cronjobs","kind":"CronJob","namespaced":true,"verbs":["delete","list","watch"]}]},
	 {"kind":"APIResourceList","groupVersion":"foo//whatever","resources":[{"name":"bars","kind":"Bar","namespaced":true,"verbs":["delete","list","watch"]}]},
	 {"kind":"APIResourceList","groupVersion":"batch/v1beta1","resources":[{"name":"cronjobs","kind":"CronJob","namespaced":true,"verbs":["delete","list","watch"]}]}]`
	s, err := readBytes(tarOf(t, []txtar.File{
		{Name: "discovery/resources.json", Data: []byte(resources)},
		{Name: "discovery/groups.json", Data: []byte(groups)},
	}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"jobs": "v1", "cronjobs": "v1beta1"} {
		r := preferred(t, s, schema.GroupResource{Group: "batch", Resource: name})
		if r.Version != want || !s.Resources.Monitored(r) {
			t.Errorf("%s: version %s, monitored %v; want %s and monitored", name, r.Version, s.Resources.Monitored(r), want)
		}
	}
	if r := preferred(t, s, pods); s.Resources.Monitored(r) {
		t.Error("pods without the verb delete are monitored")
	}
	for _, r := range s.Resources.All() {
		if r.Name == "bars" {
			t.Errorf("a resource of an invalid group version is served: %+v", r)
		}
	}
	if _, err := s.Resources.For("apps/v1", "Deployment"); err == nil {
		t.Error("a kind that discovery does not list is served")
	}
}

func TestAggregatedDiscovery(t *testing.T) {
	const core = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{},"versions":[{"version":"v1","freshness":"Current","resources":[
	 {"resource":"pods","responseKind":{"group":"","version":"","kind":"Pod"},"scope":"Namespaced","singularResource":"pod","verbs":["delete","list","watch"],"shortNames":["po"],"categories":["all"],"subresources":[{"subresource":"log"}]}]}]}]}`
	const stale = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{"name":"metrics.example.com"},"versions":[{"version":"v1","freshness":"Stale"}]}]}`
	s, err := readBytes(tarOf(t, []txtar.File{
		{Name: "discovery/api.json", Data: []byte(core)}, {Name: "discovery/apis.json", Data: []byte(stale)},
	}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if all := s.Resources.All(); len(all) != 1 || all[0].Kind != "Pod" || !all[0].Namespaced || !slices.Equal(all[0].ShortNames, []string{"po"}) {
		t.Errorf("resources %+v", all)
	}
	if len(s.Problems) != 1 || s.Problems[0].Kind != StaleDiscovery || !strings.Contains(s.Problems[0].Message, "metrics.example.com/v1") {
		t.Errorf("problems %v", s.Problems)
	}
}

// Without the core group a dump's discovery is incomplete, and pods must still be known.
func TestDiscoveryWithoutCore(t *testing.T) {
	const list = `{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[{"name":"deployments","kind":"Deployment","namespaced":true,"verbs":["delete","list","watch"]}]}`
	s, err := readBytes([]byte(list), Options{})
	if err != nil {
		t.Fatal(err)
	}
	preferred(t, s, pods)
	if len(s.Problems) != 1 || s.Problems[0].Kind != StaleDiscovery {
		t.Errorf("problems %v", s.Problems)
	}
}

func TestGuessedKinds(t *testing.T) {
	const content = `{"apiVersion":"v1","kind":"List","items":[
	 {"apiVersion":"shop.example.com/v1","kind":"Policy","metadata":{"name":"a","namespace":"shop","uid":"1"}},
	 {"apiVersion":"metrics.k8s.io/v1beta1","kind":"NodeMetrics","metadata":{"name":"b","uid":"2"}}]}`
	s, err := readBytes([]byte(content), Options{})
	if err != nil {
		t.Fatal(err)
	}
	custom := preferred(t, s, schema.GroupResource{Group: "shop.example.com", Resource: "policies"})
	if !custom.Guessed || !custom.Custom || !custom.Namespaced {
		t.Errorf("%+v", custom)
	}
	foreign, err := s.Resources.For("metrics.k8s.io/v1beta1", "NodeMetrics")
	if err != nil || !foreign.Guessed || foreign.Custom || foreign.Namespaced || foreign.Verbs != metrics[0].Verbs {
		t.Errorf("%+v, %v", foreign, err)
	}
}

// A definition that discovery doesn't list is not served (yet, or any more).
func TestDiscoveryBeatsDefinitions(t *testing.T) {
	const list = `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","kind":"Pod","namespaced":true,"verbs":["delete","list","watch"]}]}`
	const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"carts.example.com","uid":"1"},
	 "spec":{"group":"example.com","scope":"Namespaced","names":{"kind":"Cart","plural":"carts"},"versions":[{"name":"v1","served":true,"storage":true}]}}`
	for _, test := range []struct {
		files  []txtar.File
		served bool
	}{
		{[]txtar.File{{Name: "crd.json", Data: []byte(definition)}}, true},
		{[]txtar.File{{Name: "crd.json", Data: []byte(definition)}, {Name: "discovery/resources.json", Data: []byte(list)}}, false},
	} {
		s, err := readBytes(tarOf(t, test.files), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Resources.For("example.com/v1", "Cart"); (err == nil) != test.served {
			t.Errorf("with %d files: %v, want served %v", len(test.files), err, test.served)
		}
	}
}

// TestGuessPlural: a command with a plural that no server has would fail.
func TestGuessPlural(t *testing.T) {
	for kind, want := range map[string]string{
		"Gateway": "gateways", "Elasticsearch": "elasticsearches", "Mesh": "meshes", "Policy": "policies", "Widget": "widgets", "KubeletConfig": "kubeletconfigs", "Index": "indexes",
	} {
		if got := guessPlural(kind); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}
