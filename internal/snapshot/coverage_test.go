package snapshot

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

var (
	pods        = schema.GroupResource{Resource: "pods"}
	deployments = schema.GroupResource{Group: "apps", Resource: "deployments"}
)

func preferred(t *testing.T, s *Snapshot, gr schema.GroupResource) object.Resource {
	t.Helper()
	r, ok := s.Resources.Preferred(gr)
	if !ok {
		t.Fatalf("no resource %s", gr)
	}
	return r
}

func TestCoverage(t *testing.T) {
	tests := []struct {
		name      string
		build     func(c *Coverage)
		in        map[string]bool // namespace, "" for everywhere
		wantTouch bool
	}{
		{"nothing", func(*Coverage) {}, map[string]bool{"": false, "shop": false}, false},
		{"one namespace", func(c *Coverage) { c.Add(pods, "shop") }, map[string]bool{"": false, "shop": true, "pay": false}, true},
		{"everywhere", func(c *Coverage) { c.Add(pods, "") }, map[string]bool{"": true, "shop": true}, true},
		{"another resource", func(c *Coverage) { c.Add(deployments, "") }, map[string]bool{"": false, "shop": false}, false},
		{"a failure in one namespace beats a list of it", func(c *Coverage) {
			c.Add(pods, "shop")
			c.Fail(pods, "shop", reason.Forbidden, "no")
		}, map[string]bool{"shop": false}, false},
		{"a failure in one namespace beats a list of all", func(c *Coverage) {
			c.Fail(pods, "shop", reason.Forbidden, "no")
			c.Add(pods, "")
		}, map[string]bool{"": false, "shop": false, "pay": true}, true},
		{"a failure everywhere beats all lists", func(c *Coverage) {
			c.Add(pods, "")
			c.Add(pods, "shop")
			c.Fail(pods, "", reason.ListFailed, "no")
		}, map[string]bool{"": false, "shop": false}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := &Coverage{}
			test.build(c)
			for ns, want := range test.in {
				if got := c.covers(pods, ns); got != want {
					t.Errorf("covers %q: %v, want %v", ns, got, want)
				}
				if got := c.why(pods, ns); (got == "") != want {
					t.Errorf("why %q: %q", ns, got)
				}
			}
			if got := c.touched(pods); got != test.wantTouch {
				t.Errorf("touched: %v, want %v", got, test.wantTouch)
			}
		})
	}
}

func TestCoverageIsByStorage(t *testing.T) {
	c := &Coverage{}
	c.Add(schema.GroupResource{Group: "extensions", Resource: "deployments"}, "shop")
	if !c.covers(deployments, "shop") {
		t.Error("a list of extensions deployments does not cover apps deployments")
	}
	if c.covers(schema.GroupResource{Group: "extensions", Resource: "pods"}, "shop") || c.covers(pods, "shop") {
		t.Error("a list of extensions deployments covers pods")
	}
}

func TestGaps(t *testing.T) {
	c := &Coverage{}
	for _, r := range BuiltinResources().All() {
		c.Add(r.GroupResource(), "")
	}
	delete(c.places, pods)
	delete(c.places, deployments)
	c.Add(pods, "shop")
	c.Fail(schema.GroupResource{Resource: "secrets"}, "pay", reason.Forbidden, "secrets is forbidden")
	s, err := New([]*object.Object{
		{Ref: object.Ref{APIVersion: "v1", Kind: "Namespace", Name: "shop", UID: "1"}},
		{Ref: object.Ref{APIVersion: "v1", Kind: "Namespace", Name: "pay", UID: "2"}},
	}, nil, c, Source{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Gap{
		{"apps/v1", "deployments", "", "NotInDump: no list of it was seen"},
		{"v1", "pods", "pay", "NotInDump: no list of this namespace was seen"},
		{"v1", "secrets", "pay", "Forbidden: secrets is forbidden"},
	}
	if len(s.Gaps) != len(want) {
		t.Fatalf("gaps %v, want %v", s.Gaps, want)
	}
	for i, g := range s.Gaps {
		if g != want[i] {
			t.Errorf("gap %v, want %v", g, want[i])
		}
	}
	if r := s.Gaps[2].Reason(); r != reason.Forbidden {
		t.Errorf("reason %q", r)
	}
}

func TestWithKeepsCoverage(t *testing.T) {
	c := &Coverage{}
	c.Add(pods, "shop")
	pod := func(name string) *object.Object {
		return &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: name, UID: types.UID("u-" + name)}}
	}
	s, err := New([]*object.Object{pod("b")}, nil, c, Source{TakenAt: "2026-01-01T00:00:00Z"})
	if err != nil {
		t.Fatal(err)
	}
	input := []*object.Object{pod("c"), pod("a")}
	next := s.With(input)
	if next.Objects[0].Name != "a" || input[0].Name != "c" || s.Objects[0].Name != "b" {
		t.Error("With must sort a copy and leave both inputs alone")
	}
	if !next.Covers(preferred(t, next, pods), "shop") || next.Source.TakenAt != s.Source.TakenAt || len(next.Gaps) != len(s.Gaps) {
		t.Error("With must keep coverage, source and gaps")
	}
	if next.Find("v1", "Pod", "shop", "a") == nil || next.Find("v1", "Pod", "shop", "b") != nil {
		t.Error("Find")
	}
}

// TestLeftOut: a gap by choice has that reason, and a refused list has its own, in its namespace.
func TestLeftOut(t *testing.T) {
	c := &Coverage{}
	for _, r := range BuiltinResources().All() {
		if gr := r.GroupResource(); gr == pods {
			c.Fail(gr, "shop", reason.Forbidden, "no")
		} else if r.Namespaced {
			c.Add(gr, "shop")
		} else {
			c.Add(gr, "")
		}
	}
	c.LeaveOut("only some namespaces were looked at")
	var objects []*object.Object
	for _, name := range []string{"shop", "pay"} {
		objects = append(objects, &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "Namespace", Name: name, UID: types.UID(name)}})
	}
	s, err := New(objects, nil, c, Source{})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range s.Gaps {
		want := reason.LeftOut
		if g.Namespace == "shop" {
			want = reason.Forbidden
		}
		if g.Reason() != want || g.Namespace == "" {
			t.Errorf("%+v", g)
		}
	}
	if why := s.Why(preferred(t, s, pods), "shop"); why != "Forbidden: no" {
		t.Errorf("pods in shop: %q", why)
	}
	if why := s.Why(preferred(t, s, deployments), "pay"); why != "LeftOut: only some namespaces were looked at" {
		t.Errorf("deployments in pay: %q", why)
	}
}

// TestUnread reads with the permissions of one namespace.
func TestUnread(t *testing.T) {
	rs := &object.Resources{}
	for _, r := range []object.Resource{
		{Version: "v1", Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: object.AllVerbs},
		{Version: "v1", Name: "secrets", Kind: "Secret", Namespaced: true, Verbs: object.AllVerbs},
		{Version: "v1", Name: "nodes", Kind: "Node", Verbs: object.AllVerbs},
		{Version: "v1", Name: "namespaces", Kind: "Namespace", Verbs: object.AllVerbs},
		{Group: openToAll.Group, Version: "v1", Name: openToAll.Resource, Kind: "ClusterTrustBundle", Verbs: object.AllVerbs},
	} {
		rs.Add(r)
	}
	resource := func(name string) schema.GroupResource { return schema.GroupResource{Resource: name} }
	refuse := func(c *Coverage, names ...string) {
		for _, name := range names {
			c.Fail(resource(name), "", reason.Forbidden, "not "+name)
		}
	}
	shop := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "Namespace", Name: "shop", UID: "n"}}
	for name, x := range map[string]struct {
		read     func(*Coverage)
		objects  []*object.Object
		anywhere int // what is unread of everything, and of the namespace
		inside   int
		blind    string // "all" or "shop", where nothing was read
	}{
		"all of it": {func(c *Coverage) { *c = *CoversEverything() }, nil, 0, 0, ""},
		"nothing":   {func(c *Coverage) { refuse(c, "configmaps", "secrets", "nodes", "namespaces") }, nil, 4, 3, "all shop"},
		"what all may read": {func(c *Coverage) {
			refuse(c, "configmaps", "secrets", "nodes", "namespaces")
			c.Add(openToAll, "")
		}, nil, 4, 3, "all shop"},
		"a dump of none": {func(*Coverage) {}, nil, 0, 0, ""},
		"what has no namespace": {func(c *Coverage) {
			refuse(c, "configmaps", "secrets")
			c.Add(resource("nodes"), "")
			c.Add(resource("namespaces"), "")
		}, []*object.Object{shop}, 2, 2, "shop"},
		"one namespace": {func(c *Coverage) {
			refuse(c, "nodes", "namespaces")
			for _, name := range []string{"configmaps", "secrets"} {
				c.FailOthers(resource(name), reason.Forbidden, "not "+name)
				c.Add(resource(name), "shop")
			}
		}, []*object.Object{shop}, 4, 0, ""},
		"one namespace, without its object": {func(c *Coverage) {
			refuse(c, "nodes", "namespaces", "secrets")
			c.FailOthers(resource("configmaps"), reason.Forbidden, "not configmaps")
			c.Add(resource("configmaps"), "shop")
		}, nil, 4, 2, ""},
		"by choice": {func(c *Coverage) {
			c.LeaveOut("only some")
			for _, name := range []string{"configmaps", "secrets"} {
				c.Add(resource(name), "shop")
			}
			c.Add(resource("nodes"), "")
			c.Add(resource("namespaces"), "")
			c.Add(openToAll, "")
		}, []*object.Object{shop}, 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var c Coverage
			x.read(&c)
			s, err := New(x.objects, rs, &c, Source{})
			if err != nil {
				t.Fatal(err)
			}
			if all, some := s.Unread(""), s.Unread("shop"); len(all) != x.anywhere || len(some) != x.inside {
				t.Errorf("unread of everything %v, of the namespace %v; want %d and %d", all, some, x.anywhere, x.inside)
			}
			if s.Blind("shop") != (x.blind != "") || s.Blind("") != (x.blind == "all shop") {
				t.Errorf("blind %t, in the namespace %t; want %q", s.Blind(""), s.Blind("shop"), x.blind)
			}
		})
	}
}
