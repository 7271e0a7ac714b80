package unserve_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/unserve"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// drawn is a drawn world in which some objects are Things, and some references to them
// name the older version.
type drawn struct {
	objects    []*object.Object
	world      scenario.World
	resources  *object.Resources
	definition *object.Object
	// version is the one that is going to be unserved.
	version string
}

// draw draws a world. A reference that cannot be resolved keeps its object safe as long
// as it is there; so that nobody takes it off, it has no uid of another object. Of
// objects with one uid the collector knows one, and which of them is a matter of order;
// with an owner named twice the references of one may go with those of the other. Both
// are left out.
func draw(t *rapid.T, variety scenario.Variety) drawn {
	w := scenario.DrawWorld(t, variety&^(scenario.RepeatedUIDs|scenario.RepeatedOwners))
	namespaced := rapid.Bool().Draw(t, "namespaced")
	was := map[bool]string{true: "Widget", false: "Gadget"}[namespaced]
	for _, o := range w.Objects {
		if o.Kind == was {
			o.APIVersion, o.Kind = newer, kind
		}
		for i := range o.Owners {
			if strings.EqualFold(o.Owners[i].Kind, was) {
				o.Owners[i].Kind = rapid.SampledFrom([]string{kind, kind, strings.ToLower(kind)}).Draw(t, "written")
				o.Owners[i].APIVersion = rapid.SampledFrom([]string{older, newer}).Draw(t, "through")
				if rapid.IntRange(0, 4).Draw(t, "held") == 4 && !o.BeingDeleted() {
					o.Edit().Finalizers = []string{scenario.Foreign}
				}
			}
		}
	}
	d := drawn{
		objects: w.Objects, world: w, resources: resources(namespaced), definition: definition(namespaced),
		version: rapid.SampledFrom([]string{"v1", "v2"}).Draw(t, "version"),
	}
	for _, o := range d.objects {
		for i := range o.Owners {
			if d.unresolvable(o, o.Owners[i]) {
				o.Owners[i].UID = "nobody-" + o.Owners[i].UID
			}
		}
	}
	for _, namespace := range []string{"n", "m"} {
		d.objects = append(d.objects, &object.Object{
			Ref: object.Ref{APIVersion: "v1", Kind: "Namespace", Name: namespace, UID: types.UID("namespace-" + namespace)}, ResourceVersion: "1",
		})
	}
	return d
}

func (d drawn) judge(t *rapid.T) *report.Exposure {
	snap, err := snapshot.New(append(slices.Clone(d.objects), d.definition), d.resources, snapshot.CoversEverything(), snapshot.Source{Discovered: true})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := unserve.Judge(t.Context(), snap, d.definition, d.version, unserve.Options{Fix: true})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// outcomes are all that a document says may become of an object.
func outcomes(doc *report.Exposure, r object.Ref) []report.Outcome {
	ref := report.RefOf(r)
	var all []report.Outcome
	for _, d := range doc.Dependents {
		if d.Object == ref {
			all = append(all, d.Outcome)
			for _, w := range d.When {
				all = append(all, w.Outcome)
			}
		}
	}
	for _, c := range doc.Consequences {
		if c.Object == ref {
			all = append(all, c.Outcome, c.InTheEnd)
		}
	}
	return all
}

// Nothing is missed: whoever the collector deletes or prunes wrongly, under any
// schedule, whatever users do meanwhile and after, was listed.
func TestPropertyNothingIsMissed(t *testing.T) {
	losses := map[bool]int{}
	scenario.CheckUntil(t, func() bool { return losses[true] > 0 && losses[false] > 0 }, func(t *rapid.T) {
		d := draw(t, scenario.Wild)
		doc := d.judge(t)
		c := newCluster(d.objects, d.resources, "example.com/"+d.version)
		var did []string
		watch(c, d.goesAnyway(t), func(o *object.Object, removed, wrong bool) {
			if !wrong || !slices.ContainsFunc(d.objects, func(x *object.Object) bool { return x.UID == o.UID }) {
				return
			}
			losses[removed]++
			said := outcomes(doc, d.ref(o.UID))
			if len(said) == 0 && saidAnyway(doc, d.ref(o.UID)) && d.happensAnyway(t, o.UID, removed) {
				return // a race of which this end was said, and the other one not found
			}
			if len(said) == 0 {
				t.Fatalf("%s is lost, and nobody said so\n%s\n%s\n%v", o.Ref, d.world, describe(doc), did)
			}
			if removed && !slices.ContainsFunc(said, goesWith) {
				t.Fatalf("%s is deleted, and was to be %v\n%s\n%s\n%v", o.Ref, said, d.world, describe(doc), did)
			}
		})
		explore := func() {
			if err := c.explore(t.Context(), rapid.Uint64().Draw(t, "schedule")); err != nil {
				t.Fatal(err)
			}
		}
		begins := 2
		if d.misplaced() {
			begins = 1
		}
		switch rapid.IntRange(0, begins).Draw(t, "begins") {
		case 0: // the collector has settled
			if err := c.drain(t.Context()); err != nil {
				t.Fatal(err)
			}
		case 1: // it is not through
		default: // it has not even seen the kind
			c.begin()
		}
		for _, next := range []func(){c.unserve, func() { c.learn(known) }, func() { c.learn(served) }} {
			next()
			acts := scenario.DrawDeletes(t, d.world, scenario.Policies)
			for _, a := range acts[:rapid.IntRange(0, len(acts)).Draw(t, "acts")] {
				did = append(did, a.Apply(t.Context(), c.server))
			}
			if rapid.Bool().Draw(t, "release") {
				did = append(did, d.release(t, c))
			}
			explore()
			did = append(did, "explore")
		}
	})
}

// goesWith reports whether an outcome says that an object may go. One that is orphaned goes
// if the collector looks at it first: that is a race of every orphaning.
func goesWith(o report.Outcome) bool {
	return o == report.Deleted || o == report.Blocked || o == report.Unknown || o == report.Orphaned
}

// misplaced reports whether an object in no namespace names a namespaced owner. As long as
// the collector has not seen such an object, it looks at it as if it were in the
// namespace of its dependent, and then the reference can be resolved: nobody can tell
// what comes of that.
func (d drawn) misplaced() bool {
	return slices.ContainsFunc(d.objects, func(o *object.Object) bool {
		return slices.ContainsFunc(o.Owners, func(ref object.OwnerReference) bool {
			_, err := d.resources.For(ref.APIVersion, ref.Kind)
			return err == nil && d.unresolvable(o, ref)
		})
	})
}

// unresolvable reports whether the collector never gets as far as to ask for an owner.
func (d drawn) unresolvable(o *object.Object, ref object.OwnerReference) bool {
	r, err := d.resources.For(ref.APIVersion, ref.Kind)
	return err != nil || o.Namespace == "" && r.Namespaced
}

// ref is the object of a uid as it was drawn.
func (d drawn) ref(uid types.UID) object.Ref {
	i := slices.IndexFunc(d.objects, func(o *object.Object) bool { return o.UID == uid })
	return d.objects[i].Ref
}

// release takes a reference off an object.
func (d drawn) release(t *rapid.T, c *cluster) string {
	o := rapid.SampledFrom(d.objects).Draw(t, "released")
	if len(o.Owners) == 0 {
		return ""
	}
	ref := rapid.SampledFrom(o.Owners).Draw(t, "from")
	if d.unresolvable(o, ref) {
		return ""
	}
	if err := c.release(t.Context(), o.Ref, ref.UID); err != nil {
		return "" // it is gone already
	}
	return "release " + o.Name + " from " + ref.Name
}

// goesAnyway are the objects that a collector deletes that has just begun and is told no
// lies.
func (d drawn) goesAnyway(t *rapid.T) map[types.UID]bool {
	goes, _ := d.written(t, func(c *cluster) error { return c.drain(t.Context()) })
	return goes
}

// happensAnyway reports whether such a collector deletes an object under some schedule, or
// takes references off it.
func (d drawn) happensAnyway(t *rapid.T, uid types.UID, removed bool) bool {
	for seed := range uint64(100) {
		goes, changed := d.written(t, func(c *cluster) error {
			c.restartAs(rand.New(rand.NewPCG(seed, 1)))
			return c.explore(t.Context(), seed)
		})
		if goes[uid] || !removed && changed[uid] {
			return true
		}
	}
	return false
}

// written are the objects that a collector deletes, and those that it changes.
func (d drawn) written(t *rapid.T, run func(*cluster) error) (goes, changed map[types.UID]bool) {
	goes, changed = map[types.UID]bool{}, map[types.UID]bool{}
	c := newCluster(d.objects, d.resources, "")
	c.wrote = func(o *object.Object, removed bool) func() {
		return func() { goes[o.UID], changed[o.UID] = goes[o.UID] || removed, changed[o.UID] || !removed }
	}
	if err := run(c); err != nil {
		t.Fatal(err)
	}
	return goes, changed
}

// saidAnyway reports whether a document says that something happens to an object in any case.
func saidAnyway(doc *report.Exposure, r object.Ref) bool {
	return slices.ContainsFunc(doc.Safe, func(s report.SafeDependent) bool {
		return s.Object == report.RefOf(r) && (s.Reason == string(reason.AlreadyGarbage) || s.Reason == string(reason.OwnerNotLiving))
	})
}

// What is said is exact: a collector that has just begun when a version that is not
// preferred goes does to everybody what was said of its look. Worlds are left out in which
// the collector has orphaning or waiting to do as well: then it is a matter of order.
func TestPropertyALookIsForetold(t *testing.T) {
	seen := map[report.Outcome]int{}
	said := func() bool { return seen[report.Deleted] > 0 && seen[report.Blocked] > 0 && seen[report.Pruned] > 0 }
	scenario.CheckUntil(t, said, func(t *rapid.T) {
		d := draw(t, scenario.Wild&^(scenario.CollectorFinalizers|scenario.Terminating))
		d.version = "v1"
		doc := d.judge(t)
		c := newCluster(d.objects, d.resources, older)
		c.unserve()
		if err := c.explore(t.Context(), rapid.Uint64().Draw(t, "schedule")); err != nil {
			t.Fatal(err)
		}
		for _, x := range doc.Dependents {
			seen[x.Outcome]++
			o := c.get(t.Context(), object.Ref(x.Object))
			holds := true
			switch x.Outcome {
			case report.Deleted:
				holds = o == nil
			case report.Blocked:
				holds = o != nil && o.BeingDeleted()
			case report.Pruned:
				holds = o != nil && !slices.ContainsFunc(x.References, func(r report.Ref) bool { return o.RefersTo(r.UID) })
			default:
			}
			if !holds {
				t.Fatalf("%s was to be %s, and is %s\n%s\n%s", object.Ref(x.Object), x.Outcome, c.state(t.Context(), object.Ref(x.Object)), d.world, describe(doc))
			}
		}
	})
}
