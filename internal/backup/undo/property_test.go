package undo

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

var kindsDrawn = []string{"ConfigMap", "Pod", "ServiceAccount", "Namespace", "Node", "Cart.example.com"}

// genWorld draws a backup and a cluster with arbitrary references.
func genWorld(t *rapid.T) ([]Saved, *cluster) {
	name := rapid.Custom(func(t *rapid.T) object.Ref {
		kind := rapid.SampledFrom(kindsDrawn).Draw(t, "kind")
		inside := rapid.SampledFrom([]string{"shop", "pay"}).Draw(t, "namespace")
		r := refOf(fmt.Sprintf("%s %s/n%d", kind, inside, rapid.IntRange(0, 3).Draw(t, "name")))
		r.UID = types.UID(fmt.Sprintf("%s-%s-%s", r.Kind, r.Namespace, r.Name))
		if rapid.IntRange(0, 3).Draw(t, "other uid") == 0 {
			r.UID = types.UID(fmt.Sprintf("u%d", rapid.IntRange(0, 2).Draw(t, "uid")))
		}
		return r
	})
	owners := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) object.OwnerReference { return ownerOf(name.Draw(t, "owner")) }), 0, 3)
	var list []Saved
	for range rapid.IntRange(0, 14).Draw(t, "saved") {
		s := savedAs(name.Draw(t, "object"), `{"spec":{"serviceAccountName":"n1"}}`, owners.Draw(t, "owners")...)
		s.Changed = rapid.Bool().Draw(t, "changed")
		if rapid.IntRange(0, 9).Draw(t, "lost") == 0 {
			s.Raw = nil
		}
		list = append(list, s)
	}
	c := clusterOf()
	for range rapid.IntRange(0, 6).Draw(t, "live") {
		o := &object.Object{Ref: name.Draw(t, "alive"), ResourceVersion: "1", Owners: owners.Draw(t, "live owners")}
		switch rapid.IntRange(0, 5).Draw(t, "how") {
		case 0:
			o.Edit().DeletionTimestamp = 1
		case 1:
			c.closed[o.Ref.Coordinates()] = true
		}
		c.objects[o.Ref.Coordinates()] = o
	}
	return list, c
}

// TestPlanIsSafe: whatever was saved and exists now, each step is possible in its turn, nothing is
// overwritten, and every written reference names a live, valid owner. Each saved object is in the
// plan once.
func TestPlanIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, c := genWorld(t)
		p := Make(list, c.lookup)
		later := 0
		var m Mapping
		restoring := false
		for i := range p.Steps {
			s := &p.Steps[i]
			if s.N != i+1 || restoring && s.Verb == Create {
				t.Fatalf("step %d: %s in the wrong place", i+1, s.Object)
			}
			if s.Verb == Restore {
				if s.Live() == nil {
					later++
					checkRelink(t, s, c, &m)
					continue
				}
				restoring = true
				checkRestore(t, s, c, &m)
				continue
			}
			if there, err := c.lookup(s.Object); there != nil || err != nil {
				t.Fatalf("step %d overwrites %v, %v", s.N, there, err)
			}
			body, dropped, err := s.Body(&m)
			if err != nil {
				t.Fatal(err)
			}
			if rapid.IntRange(0, 5).Draw(t, "fails") == 0 {
				m.Failed(s)
				continue
			}
			o := parseSent(t, body)
			if len(o.Owners) != len(s.References)-len(dropped) {
				t.Fatalf("step %d sends %d references of %d", s.N, len(o.Owners), len(s.References))
			}
			checkOwners(t, s, o.Owners, c)
			o.Ref = s.Object
			o.UID = types.UID(fmt.Sprintf("new-%d", s.N))
			o.ResourceVersion = "1"
			c.objects[o.Ref.Coordinates()] = o
			m.Made(s, o.UID)
		}
		if len(p.Steps)-later+len(p.Skipped) != len(list) {
			t.Fatalf("%d saved, %d steps, %d of them later, %d skipped", len(list), len(p.Steps), later, len(p.Skipped))
		}
	})
}

// checkRelink executes a step that adds references to an object of an earlier step.
func checkRelink(t *rapid.T, s *Step, c *cluster, m *Mapping) {
	now, err := c.lookup(s.Object)
	if m.Of(s.Object) == "" {
		return // it was not created
	}
	if err != nil || now == nil || now.UID != m.Of(s.Object) {
		t.Fatalf("step %d comes before what it changes: %v, %v", s.N, now, err)
	}
	patch, _, _, err := s.PatchOf(m, now)
	if err != nil {
		t.Fatal(err)
	}
	checkOwners(t, s, *patch.Owners, c)
}

func checkRestore(t *rapid.T, s *Step, c *cluster, m *Mapping) {
	now, err := c.lookup(s.Object)
	if err != nil || now == nil || now.UID != s.Object.UID || now.BeingDeleted() {
		t.Fatalf("step %d restores %v, %v", s.N, now, err)
	}
	patch, dropped, err := s.Patch(m)
	if err != nil {
		t.Fatal(err)
	}
	all := *patch.Owners
	// Its references stay, except to an owner that was replaced by a new one.
	kept := slices.DeleteFunc(slices.Clone(now.Owners), func(ref object.OwnerReference) bool {
		return s.Replaces(ref) && !slices.ContainsFunc(dropped, func(d Dropped) bool { return d.Reference.UID == ref.UID })
	})
	if patch.UID != now.UID || patch.ResourceVersion == "" || len(all) < len(kept) || !slices.Equal(all[:len(kept)], kept) {
		t.Fatalf("step %d: %+v", s.N, patch)
	}
	checkOwners(t, s, all[len(kept):], c)
}

func checkOwners(t *rapid.T, s *Step, owners []object.OwnerReference, c *cluster) {
	for _, ref := range owners {
		owner, err := c.lookup(ref.In(s.Object.Namespace))
		if err != nil || owner == nil || owner.UID != ref.UID || owner.BeingDeleted() {
			t.Fatalf("step %d: the garbage collector would delete %s for its reference to %s %s %s: %v %v", s.N, s.Object, ref.Kind, ref.Name, ref.UID, owner, err)
		}
	}
}

func parseSent(t *rapid.T, body []byte) *object.Object {
	var content map[string]any
	if err := json.Unmarshal(body, &content); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"uid", "resourceVersion"} {
		if at(content, "metadata", field) != nil {
			t.Fatalf("%s is sent: %s", field, body)
		}
	}
	return &object.Object{Owners: references(content)}
}

// TestPlanIsDeterministic (I17): neither the order of the backup nor a repetition changes the plan.
func TestPlanIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, c := genWorld(t)
		// Among two objects with the same coordinates, the order of the backup decides.
		seen := map[object.Ref]bool{}
		list = slices.DeleteFunc(list, func(s Saved) bool {
			twice := seen[s.Object]
			seen[s.Object] = true
			return twice
		})
		a := lines(Make(list, c.lookup))
		b := lines(Make(rapid.Permutation(list).Draw(t, "order"), c.lookup))
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestLongCircle: a cycle of 10,000 owners needs no stack, and one reference is added after all are
// created.
func TestLongCircle(t *testing.T) {
	const n = 10000
	var list []Saved
	for i := range n {
		owner := ownerOf(refOf(fmt.Sprintf("ConfigMap n%05d", (i+1)%n)))
		list = append(list, saved(fmt.Sprintf("ConfigMap n%05d", i), "", owner))
	}
	p := Make(list, clusterOf().lookup)
	var m Mapping
	for i := range p.Steps {
		s := &p.Steps[i]
		if len(s.Dropped) != 0 || (s.Verb == Restore) != (i == n) {
			t.Fatalf("step %d %ss %s and drops %v", s.N, s.Verb, s.Object, s.Dropped)
		}
		if s.Verb == Restore {
			continue
		}
		if _, _, err := s.Body(&m); err != nil {
			t.Fatal(err)
		}
		m.Made(s, "new")
	}
	if len(p.Steps) != n+1 {
		t.Errorf("%d steps", len(p.Steps))
	}
}

// FuzzMake: any bytes are planned or skipped, and every planned step can be sent.
func FuzzMake(f *testing.F) {
	f.Add(saved("ConfigMap cm", "").Raw)
	f.Add(saved("ConfigMap cm", `{"metadata":{"finalizers":["orphan"],"labels":null},"spec":[]}`, ownerOf(refOf("Pod p"))).Raw)
	f.Add([]byte(`{"metadata":{"name":"cm","namespace":"shop","uid":"u-cm","ownerReferences":[1,{"uid":2}],"finalizers":{},"annotations":3}}`))
	f.Add([]byte(`null`))
	kinds := []string{"ConfigMap cm", "Pod cm", "Service cm", "Job.batch cm", "PersistentVolumeClaim cm", "Secret cm"}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, kind := range kinds {
			s := Saved{Object: refOf(kind), Raw: raw}
			p := Make([]Saved{s}, clusterOf().lookup)
			for i := range p.Steps {
				body, _, err := p.Steps[i].Body(&Mapping{})
				if err != nil || !json.Valid(body) {
					t.Fatalf("%s: %s, %v", kind, body, err)
				}
			}
		}
	})
}
