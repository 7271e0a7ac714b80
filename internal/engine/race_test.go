package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// overlapping drives a collector like the live driver: the verbs in one goroutine, every Lookup and
// Act in its own.
func overlapping(t *testing.T, c *Collector, s *apisim.Server, users *sync.WaitGroup) {
	ctx := context.Background()
	looked, acted := make(chan Facts), make(chan Outcome)
	under := 0
	calm := make(chan struct{})
	go func() {
		users.Wait()
		close(calm)
	}()
	for busy := true; busy || under > 0 || c.Ready() > 0; {
		for _, e := range s.Events() {
			c.Observe(e)
		}
		for under < 8 {
			a, ok := c.Next()
			if !ok {
				break
			}
			under++
			go func() { looked <- Lookup(ctx, s, c.Rules(), a) }()
		}
		if under == 0 && c.DeferredCount() > 0 {
			c.Wake()
			continue
		}
		var rest <-chan struct{}
		if under == 0 && c.Ready() == 0 {
			rest = calm
		}
		select {
		case f := <-looked:
			d := c.Decide(f)
			go func() { acted <- Act(ctx, s, d) }()
		case out := <-acted:
			under--
			c.Settle(out)
		case <-rest:
			events := s.Events()
			for _, e := range events {
				c.Observe(e)
			}
			busy = len(events) > 0
		}
		if err := c.graph.Check(); err != nil {
			t.Error(err)
			return
		}
	}
}

// Users add a second owner to dependents and remove it again while the collector releases them from
// the first one concurrently. The race detector checks it, and no dependent is lost in any order.
//
// Covers: S255
func TestOverlappingOrphanRuns(t *testing.T) {
	const dependents = 60
	objects := []*object.Object{numbered("old"), numbered("new")}
	for i := range dependents {
		objects = append(objects, numbered(fmt.Sprintf("d%02d", i), "old"))
	}
	for _, o := range objects {
		o.ResourceVersion = "1"
	}
	s := apisim.New(objects, coreResources())
	c := New()
	for _, o := range objects {
		c.Observe(added(o))
	}
	orphan := DeleteOptions(OrphanPolicy, "old", "")
	if err := s.Delete(context.Background(), objects[0].Ref, orphan); err != nil {
		t.Fatal(err)
	}
	var users sync.WaitGroup
	for u := range 4 {
		users.Go(func() {
			for i := u; i < dependents; i += 4 {
				link(t, s, objects[2+i].Ref, i%3 != 0)
			}
		})
	}
	overlapping(t, c, s, &users)
	for i := range dependents {
		o, err := s.Get(context.Background(), objects[2+i].Ref)
		if err != nil {
			t.Fatalf("dependent %d: %v", i, err)
		}
		if o.BeingDeleted() || o.RefersTo("old") || o.RefersTo("new") != (i%3 != 0) {
			t.Errorf("dependent %d: %+v", i, o)
		}
	}
	if _, err := s.Get(context.Background(), objects[0].Ref); err == nil {
		t.Error("the old owner is still there")
	}
}

func link(t *testing.T, s *apisim.Server, ref object.Ref, stay bool) {
	patches := []object.Patch{{MergeOwners: numbered("", "new").Owners}}
	if !stay {
		patches = append(patches, object.Patch{DeleteOwners: []types.UID{"new"}})
	}
	for _, p := range patches {
		if err := s.Patch(context.Background(), ref, p); err != nil {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// Concurrent collectors share only objects: none writes to anything that another one reads.
func TestMachinesSideBySide(t *testing.T) {
	objects := []*object.Object{numbered("root")}
	for i := range 40 {
		owners := []string{"root"}
		if i > 0 {
			owners = append(owners, fmt.Sprint((i-1)/3))
		}
		o := numbered(fmt.Sprint(i), owners...)
		for j := range o.Owners {
			o.Owners[j].BlockOwnerDeletion = object.True
		}
		objects = append(objects, o)
	}
	server := apisim.New(objects, coreResources())
	var all sync.WaitGroup
	for seed := range 8 {
		s := server.Clone()
		all.Go(func() {
			ctx, c := context.Background(), New()
			for o := range s.List {
				c.Observe(added(o))
			}
			policy := metav1.DeletePropagationForeground
			if err := s.Delete(ctx, objects[0].Ref, metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
				t.Error(err)
			}
			if err := Explore(ctx, c, s, Follow{}, rand.New(rand.NewPCG(uint64(seed), 1))); err != nil {
				t.Error(err)
			}
			if left := len(s.Objects()); left != 0 {
				t.Errorf("%d objects are left", left)
			}
		})
	}
	all.Wait()
}
