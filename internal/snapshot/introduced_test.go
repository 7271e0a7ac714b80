package snapshot

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// TestIntroduced compares the table of young kinds with the API's own markers. It must have every
// version of a kind, and none as younger than it is.
func TestIntroduced(t *testing.T) {
	if !scheme.Scheme.IsVersionRegistered(schema.GroupVersion{Group: "storagemigration.k8s.io", Version: "v1"}) {
		t.Skip("client-go is older than the table")
	}
	builtin, checked := BuiltinResources(), 0
	for gr, versions := range introduced() {
		r, ok := builtin.Preferred(gr)
		if !ok {
			t.Errorf("%s is no built-in kind", gr)
		}
		if !slices.ContainsFunc(scheme.Scheme.VersionsForGroupKind(schema.GroupKind{Group: gr.Group, Kind: r.Kind}), func(gv schema.GroupVersion) bool { return gv.Version == r.Version }) {
			t.Errorf("%s: the scheme lacks %s", gr, r.Version)
		}
		for _, gv := range scheme.Scheme.VersionsForGroupKind(schema.GroupKind{Group: gr.Group, Kind: r.Kind}) {
			minor, ok := versions[gv.Version]
			if !ok {
				t.Errorf("%s: %s is missing", gr, gv.Version)
			}
			o, err := scheme.Scheme.New(gv.WithKind(r.Kind))
			if err != nil {
				t.Fatal(err)
			}
			if o, ok := o.(interface{ APILifecycleIntroduced() (int, int) }); ok {
				checked++
				if _, said := o.APILifecycleIntroduced(); said != minor {
					t.Errorf("%s: %s began in 1.%d, and the table says 1.%d", gr, gv.Version, said, minor)
				}
			}
		}
		for _, o := range olderVersions {
			if group, v := object.SplitAPIVersion(o.apiVersion); group == gr.Group && o.name == gr.Resource && versions[v] == 0 {
				t.Errorf("%s: %s is missing", gr, v)
			}
		}
		for _, o := range olderVersions {
			old := schema.GroupResource{Group: object.GroupOf(o.apiVersion), Resource: o.name}
			if old != gr && object.Storage(old) == gr {
				t.Errorf("%s had another name, %s, under which it may be older", gr, old)
			}
		}
	}
	if checked < 30 {
		t.Errorf("%d versions were checked", checked)
	}
}

func TestMayServe(t *testing.T) {
	group := func(names ...string) (groups, versions map[string]bool) {
		groups, versions = map[string]bool{"": true}, map[string]bool{}
		for _, gv := range names {
			g, _ := object.SplitAPIVersion(gv)
			groups[g], versions[gv] = true, true
		}
		return groups, versions
	}
	tests := []struct {
		name     string
		resource string
		version  string
		named    []string
		want     bool
	}{
		{"before the first version", "ipaddresses.networking.k8s.io", "v1.26.9", nil, false},
		{"an alpha version may be turned on", "ipaddresses.networking.k8s.io", "v1.27.1+k3s1", nil, true},
		{"an alpha version is not among those that are served", "ipaddresses.networking.k8s.io", "v1.27.1", []string{"apps/v1", "networking.k8s.io/v1"}, false},
		{"an alpha version was turned on", "ipaddresses.networking.k8s.io", "v1.27.1", []string{"apps/v1", "networking.k8s.io/v1", "networking.k8s.io/v1alpha1"}, true},
		{"served by default", "ipaddresses.networking.k8s.io", "v1.33.0", []string{"apps/v1", "networking.k8s.io/v1"}, true},
		{"of a server that does not say its version", "ipaddresses.networking.k8s.io", "", nil, true},
		{"of one that only names what it serves", "ipaddresses.networking.k8s.io", "", []string{"apps/v1", "networking.k8s.io/v1"}, true},
		{"of a version that is not understood", "ipaddresses.networking.k8s.io", "4.14.3", nil, true},
		{"a group that is not served", "deviceclasses.resource.k8s.io", "v1.36.0", []string{"apps/v1"}, false},
		{"an old kind", "networkpolicies.networking.k8s.io", "v1.6.0", nil, true},
		{"of the core group", "secrets", "v1.10.0", []string{"apps/v1"}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, ok := BuiltinResources().Preferred(schema.ParseGroupResource(test.resource))
			if !ok {
				t.Fatal("no such resource")
			}
			var s server
			s.minor = int(release.MinorOf(test.version))
			if test.named != nil {
				s.groups, s.versions = group(test.named...)
			}
			if got := s.mayServe(r); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

func TestNewer(t *testing.T) {
	if got := newer("v1.30.1", "v1.31.0") + newer("v1.31.0", "v1.30.1") + newer("", "v1.2.3") + newer("v1.2.3", ""); got != "v1.31.0v1.31.0v1.2.3v1.2.3" {
		t.Error(strings.ReplaceAll(got, "v", " v"))
	}
}
