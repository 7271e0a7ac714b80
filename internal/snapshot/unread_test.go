package snapshot

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

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
