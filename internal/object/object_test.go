package object

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

func TestLabels(t *testing.T) {
	l := LabelsOf(map[string]string{"tier": "front", "app": "web", "empty": ""})
	if l != LabelsOf(map[string]string{"empty": "", "app": "web", "tier": "front"}) {
		t.Error("the canonical form depends on the order")
	}
	for text, want := range map[string]bool{
		"app=web": true, "app=db": false, "tier!=db": true, "empty": true, "!missing": true, "missing": false, "app in (web,db),tier": true,
	} {
		selector, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := selector.Matches(l); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestLabelsRoundTrip(t *testing.T) {
	text := rapid.StringMatching(`[a-zA-Z0-9./_-]{0,8}`)
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.MapOf(text, text).Draw(t, "labels")
		got := maps.Collect(LabelsOf(m).All)
		if diff := cmp.Diff(m, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestSplitAPIVersion(t *testing.T) {
	for in, want := range map[string][2]string{
		"v1": {"", "v1"}, "apps/v1": {"apps", "v1"}, "a/b/c": {"", ""}, "": {"", ""}, "/v1": {"", "v1"},
	} {
		group, version := SplitAPIVersion(in)
		if got := [2]string{group, version}; got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestWithoutOwners(t *testing.T) {
	owners := []OwnerReference{{UID: "a"}, {UID: "b"}, {UID: "a", Controller: True}}
	if got := WithoutOwners(owners, []types.UID{"c"}); !slices.Equal(got, owners) {
		t.Errorf("nothing to remove: %v", got)
	}
	if got := WithoutOwners(owners, []types.UID{"a"}); !slices.Equal(got, []OwnerReference{{UID: "b"}}) {
		t.Errorf("all references with the uid go: %v", got)
	}
	if owners[0].UID != "a" || len(owners) != 3 {
		t.Error("the input was changed")
	}
}

// An edit of a clone never changes the original.
func TestEditLeavesTheOriginalAlone(t *testing.T) {
	o := &Object{Ref: Ref{Name: "a"}, Lifecycle: &Lifecycle{Finalizers: []string{"x/y"}}}
	c := o.Clone()
	c.Edit().DeletionTimestamp = 5
	if o.BeingDeleted() || !c.BeingDeleted() || Equal(o, c) {
		t.Errorf("original %+v, clone %+v", o.Lifecycle, c.Lifecycle)
	}
	if !Equal(o, o.Clone()) {
		t.Error("a clone is not equal")
	}
}

func TestEqualSeesEveryField(t *testing.T) {
	grace, other := int64(3), int64(4)
	base := func() *Object {
		return &Object{Ref: Ref{"v1", "Pod", "n", "a", "u"}, ResourceVersion: "1", Owners: []OwnerReference{{UID: "o"}}, Labels: "a\x00b\x00", Created: 1, Generation: 1,
			Lifecycle: &Lifecycle{Finalizers: []string{"x/y"}, DeletionTimestamp: 9, GracePeriod: &grace, Revision: 3, Tracker: "web",
				Facts: &PodFacts{NodeName: "n"}}}
	}
	for i, change := range []func(*Object){
		func(o *Object) { o.UID = "x" }, func(o *Object) { o.ResourceVersion = "2" }, func(o *Object) { o.Owners = nil },
		func(o *Object) { o.Labels = "" }, func(o *Object) { o.Created = 2 }, func(o *Object) { o.Generation = 2 },
		func(o *Object) { o.Lifecycle.Finalizers = nil }, func(o *Object) { o.Lifecycle.Tracker = "" }, func(o *Object) { o.Lifecycle.DeletionTimestamp = 1 }, func(o *Object) { o.Lifecycle.GracePeriod = &other },
		func(o *Object) { o.Lifecycle.GracePeriod = nil }, func(o *Object) { o.Lifecycle.Revision = 4 }, func(o *Object) { o.Lifecycle.Facts = nil },
		func(o *Object) { o.Lifecycle.Facts = &PodFacts{} },
	} {
		changed := base()
		change(changed)
		if Equal(base(), changed) {
			t.Errorf("change %d is not seen", i)
		}
	}
	if !Equal(base(), base()) {
		t.Error("equal objects differ")
	}
}

func TestJobManagedElsewhere(t *testing.T) {
	for by, want := range map[string]bool{"": false, "kubernetes.io/job-controller": false, "kueue.x-k8s.io/multikueue": true} {
		if got := (&JobFacts{ManagedBy: by}).Elsewhere(); got != want {
			t.Errorf("%q: %v, want %v", by, got, want)
		}
	}
}

// TestEqualSeesEveryFact: facts that differ in a single field are not equal, copies are.
func TestEqualSeesEveryFact(t *testing.T) {
	all := func() []Facts {
		return []Facts{
			nil,
			&PodFacts{}, &PodFacts{NodeName: "n"}, &PodFacts{Phase: "Running"}, &PodFacts{Mirror: true}, &PodFacts{VolumesKnown: true},
			&PodFacts{TerminationGracePeriod: new(int64(3))}, &PodFacts{TerminationGracePeriod: new(int64(4))},
			&PodFacts{Claims: []Claim{{Name: "c"}}}, &PodFacts{Claims: []Claim{{Name: "c", Ephemeral: true}}},
			&NamespaceFacts{}, &NamespaceFacts{Phase: "Active"}, &NamespaceFacts{Finalizers: []string{"kubernetes"}},
			&CRDFacts{}, &CRDFacts{Group: "g"}, &CRDFacts{Kind: "K"}, &CRDFacts{Plural: "ks"}, &CRDFacts{Singular: "k"}, &CRDFacts{Namespaced: true},
			&CRDFacts{ShortNames: []string{"k"}}, &CRDFacts{Categories: []string{"all"}}, &CRDFacts{Versions: []CRDVersion{{Name: "v1"}}},
			&CRDFacts{Versions: []CRDVersion{{Name: "v1", Served: true}}}, &CRDFacts{Stored: []string{"v1"}}, &CRDFacts{Established: true}, &CRDFacts{Terminating: true},
			&JobFacts{}, &JobFacts{Finished: true}, &JobFacts{ManagedBy: "x/y"},
			&PVFacts{}, &PVFacts{Phase: "Bound"}, &PVFacts{ClaimNamespace: "n"}, &PVFacts{ClaimName: "c"}, &PVFacts{ClaimUID: "u"},
			&PVFacts{ReclaimPolicy: "Delete"}, &PVFacts{Provisioner: "x"}, &PVFacts{MigratedTo: "x"}, &PVFacts{CSI: true},
			&ResourceClaimFacts{}, &ResourceClaimFacts{Reserved: []Reservation{{Name: "p"}}},
			&ServiceCIDRFacts{}, &ServiceCIDRFacts{CIDRs: []string{"10.0.0.0/24"}},
			&IPAddressFacts{}, &IPAddressFacts{Name: "web"},
			&Token{Account: "ci"}, &Token{Account: "ci", Sure: true},
			&StatefulSetFacts{}, &StatefulSetFacts{ClaimTemplates: []string{"data"}},
			&ServiceAccountFacts{}, &ServiceAccountFacts{Secrets: []string{"ci-token"}},
			&ClusterRoleFacts{}, &ClusterRoleFacts{Rules: []string{"a"}}, &ClusterRoleFacts{Aggregates: []string{"a"}},
		}
	}
	for i, a := range all() {
		for j, b := range all() {
			if Equal(&Object{Lifecycle: &Lifecycle{Facts: a}}, &Object{Lifecycle: &Lifecycle{Facts: b}}) != (i == j) {
				t.Errorf("%T %+v and %T %+v", a, a, b, b)
			}
		}
	}
}
