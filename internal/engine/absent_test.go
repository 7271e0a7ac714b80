package engine

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// coreResources are the kinds that the tests of this package use.
func coreResources() *object.Resources {
	rs := &object.Resources{}
	for kind, name := range map[string]string{"ConfigMap": "configmaps", "Pod": "pods", "ReplicationController": "replicationcontrollers", "Secret": "secrets"} {
		rs.Add(object.Resource{Version: "v1", Kind: kind, Name: name, Namespaced: true, Verbs: object.AllVerbs})
	}
	rs.Add(object.Resource{Version: "v1", Kind: "Node", Name: "nodes", Verbs: object.AllVerbs})
	rs.Add(object.Resource{Version: "v1", Kind: "Namespace", Name: "namespaces", Verbs: object.AllVerbs})
	return rs
}

// counting counts the reads.
type counting struct {
	*apisim.Server
	gets map[string]int
}

func (c *counting) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	c.gets[ref.Name]++
	return c.Server.Get(ctx, ref)
}

// References that differ only in flags name the same owner, so the second pod of rc1 needs no
// request and makes rc1 the more recent of the two that fit. rc3 then evicts rc2.
//
// Covers: S087, S088
func TestAbsentOwnersAreRemembered(t *testing.T) {
	pod := func(name, rc string, controller object.Flag) *object.Object {
		return &object.Object{
			Ref: object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "n", Name: name, UID: types.UID(name)},
			Owners: []object.OwnerReference{{
				APIVersion: "v1", Kind: "ReplicationController", Name: rc, UID: types.UID(rc), Controller: controller,
			}},
		}
	}
	pods := []*object.Object{
		pod("rc1-a", "rc1", object.True), pod("rc2-a", "rc2", object.True), pod("rc1-b", "rc1", object.False), pod("rc3-a", "rc3", object.True),
	}
	api := &counting{apisim.New(pods, coreResources()), map[string]int{}}
	c := New(WithAbsentCapacity(2))
	for _, p := range pods {
		c.Observe(object.Event{Type: object.Added, Object: p})
	}
	for _, p := range pods {
		id, _ := c.graph.Find(p.UID)
		c.toDelete.add(id)
		a, ok := c.NextOf(DeleteWork, slices.Index(c.toDelete.waiting(), id))
		if !ok {
			t.Fatalf("%s needs no attempt", p.Name)
		}
		d := c.Decide(Lookup(context.Background(), api, Upstream, a))
		if d.Reason != reason.NoExistingOwner {
			t.Errorf("%s: %s, want NoExistingOwner", p.Name, d.Reason)
		}
		c.Settle(Outcome{Decision: d, Disposition: d.Disposition})
	}
	wantGets := map[string]int{"rc1-a": 1, "rc1-b": 1, "rc2-a": 1, "rc3-a": 1, "rc1": 1, "rc2": 1, "rc3": 1}
	if diff := cmp.Diff(wantGets, api.gets); diff != "" {
		t.Errorf("reads (-want +got):\n%s", diff)
	}
	rc := func(name string) object.Ref {
		return object.Ref{APIVersion: "v1", Kind: "ReplicationController", Namespace: "n", Name: name, UID: types.UID(name)}
	}
	if diff := cmp.Diff([]object.Ref{rc("rc3"), rc("rc1")}, c.Absent()); diff != "" {
		t.Errorf("remembered (-want +got):\n%s", diff)
	}
}

// Strict rules remember nothing: every owner is read again.
func TestStrictRulesRememberNothing(t *testing.T) {
	c := New(WithRules(Strict))
	c.remember(object.Ref{Name: "a"})
	if len(c.Absent()) > 0 {
		t.Errorf("remembered %v", c.Absent())
	}
}

func TestWithAbsent(t *testing.T) {
	a, b := object.Ref{Name: "a"}, object.Ref{Name: "b"}
	c := New(WithAbsentCapacity(2), WithAbsent(a, b, a))
	if diff := cmp.Diff([]object.Ref{a, b}, c.Absent()); diff != "" {
		t.Errorf("remembered (-want +got):\n%s", diff)
	}
}

// The reference implementation is a list that is searched from the front and cut off at its
// capacity.
func TestAbsentOwnersAreAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.IntRange(1, 4).Draw(t, "capacity")
		a := newAbsentOwners(capacity)
		var list []object.Ref
		ref := rapid.Custom(func(t *rapid.T) object.Ref {
			return object.Ref{
				Namespace: rapid.SampledFrom([]string{"", "n", "m"}).Draw(t, "namespace"),
				UID:       rapid.SampledFrom([]types.UID{"u", "v"}).Draw(t, "uid"),
			}
		})
		use := func(r object.Ref) bool {
			i := slices.Index(list, r)
			if i >= 0 {
				list = slices.Insert(slices.Delete(list, i, i+1), 0, r)
			}
			return i >= 0
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				if got := a.refs(); !slices.Equal(got, list) || len(a.at["u"])+len(a.at["v"]) != len(list) {
					t.Fatalf("got %v, want %v", got, list)
				}
			},
			"add": func(t *rapid.T) {
				r := ref.Draw(t, "ref")
				a.add(r)
				if !use(r) {
					list = slices.Insert(list, 0, r)
					list = list[:min(len(list), capacity)]
				}
			},
			"has": func(t *rapid.T) {
				r := ref.Draw(t, "ref")
				if got, want := a.has(r), use(r); got != want {
					t.Fatalf("has(%v) = %v", r, got)
				}
			},
		})
	})
}

// An attempt carries the remembered absence of every owner, also after the first 64: none is read.
func TestManyOwnersAreRemembered(t *testing.T) {
	const owners = 70
	dependent := numbered("d")
	c := New()
	for i := range owners {
		owner := numbered(fmt.Sprintf("o%02d", i))
		dependent.Owners = append(dependent.Owners, numbered("", owner.Name).Owners...)
		c.remember(owner.Ref)
	}
	api := &counting{apisim.New([]*object.Object{dependent}, coreResources()), map[string]int{}}
	c.Observe(added(dependent))
	id, _ := c.graph.Find(dependent.UID)
	f := Lookup(context.Background(), api, Upstream, c.attempt(DeleteWork, id))
	for i, o := range f.Owners {
		if o.Class != Dangling || o.Evidence != Remembered {
			t.Errorf("owner %d: class %d, evidence %d, want evidence %d", i, o.Class, o.Evidence, Remembered)
		}
	}
	if len(api.gets) != 1 {
		t.Errorf("%d reads: %v", len(api.gets), api.gets)
	}
}
