package unserve_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/unserve"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// cluster-scoped Things, and what depends on them.
const few = `
example.com/v2 Thing x
v1 ConfigMap n/old owners=example.com/v1:Thing:x:x
v1 ConfigMap n/new owners=x
v1 ConfigMap n/below owners=old
v1 ConfigMap n/absent owners=example.com/v1:Thing:nobody:nobody
`

func parse(t *testing.T, text string) []*object.Object {
	t.Helper()
	objects, err := scenario.ParseWorld(text, scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func take(t *testing.T, objects []*object.Object, d *object.Object, rs *object.Resources, coverage *snapshot.Coverage) *snapshot.Snapshot {
	t.Helper()
	snap, err := snapshot.New(append(slices.Clone(objects), d), rs, coverage, snapshot.Source{Discovered: true})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func judge(t *testing.T, snap *snapshot.Snapshot, d *object.Object, version string) *report.Exposure {
	t.Helper()
	doc, err := unserve.Judge(t.Context(), snap, d, version, unserve.Options{Fix: true})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// When the whole definition goes, what is said of the dependents is what a delete of the
// definition does to them.
func TestWholeDefinitionIsItsDelete(t *testing.T) {
	d := definition(false)
	snap := take(t, parse(t, few), d, resources(false), snapshot.CoversEverything())
	doc := judge(t, snap, d, "")
	result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, d.Ref), plan.Options{NoSteps: true})
	if err != nil {
		t.Fatal(err)
	}
	deleted := map[report.Ref]report.Outcome{}
	for _, e := range result.Plan.Effects {
		if !e.AlreadyHappening && e.Object.Kind == "ConfigMap" {
			deleted[e.Object] = e.Outcome
		}
	}
	said := map[report.Ref]report.Outcome{}
	for _, x := range doc.Dependents {
		said[x.Object] = x.Outcome
	}
	for _, c := range doc.Consequences {
		said[c.Object] = c.Outcome
	}
	if diff := cmp.Diff(deleted, said); diff != "" || len(said) != 3 {
		t.Errorf("the delete and the exposure differ (-delete +exposure):\n%s", diff)
	}
	if len(doc.Patches) > 0 || doc.Version.Target != "" {
		t.Errorf("there is nothing to migrate to: %+v", doc.Patches)
	}
}

// A version that is not served takes nothing any more. Whose owner lives gets a patch.
func TestVersionThatIsNotServed(t *testing.T) {
	d := definition(false)
	d.Definition().Versions[0].Served = false
	rs := &object.Resources{}
	for _, r := range resources(false).All() {
		if r.APIVersion() != older || r.Name != plural {
			rs.Add(r)
		}
	}
	doc := judge(t, take(t, parse(t, few), d, rs, snapshot.CoversEverything()), d, "v1")
	if len(doc.Dependents) > 0 || doc.Version.Served {
		t.Errorf("exposed: %+v", doc.Dependents)
	}
	safe := map[string]string{}
	for _, x := range doc.Safe {
		safe[x.Object.Name] = x.Reason
	}
	if diff := cmp.Diff(map[string]string{"old": "VersionNotServed", "absent": "VersionNotServed", "new": "OtherVersion"}, safe); diff != "" {
		t.Errorf("safe (-want +got):\n%s", diff)
	}
	if len(doc.Patches) != 1 || doc.Patches[0].Object.Name != "old" {
		t.Errorf("patches %+v, want one for old: with absent migrated it would be garbage", doc.Patches)
	}
	if !noted(doc, reason.NotServed) || !noted(doc, reason.NotMigrated) || noted(doc, reason.NeverCollected) {
		t.Errorf("notes %+v", doc.Notes)
	}
}

func noted(doc *report.Exposure, n reason.Code) bool {
	return slices.ContainsFunc(doc.Notes, func(x report.ExposureNote) bool { return x.Note == string(n) })
}

// The only version that is served leaves nothing to migrate to.
func TestOnlyVersion(t *testing.T) {
	d := definition(false)
	d.Definition().Versions = []object.CRDVersion{{Name: "v2", Served: true, Storage: true}}
	d.Definition().Stored = nil
	rs := &object.Resources{}
	for _, r := range resources(false).All() {
		if r.APIVersion() != older || r.Name != plural {
			rs.Add(r)
		}
	}
	doc := judge(t, take(t, parse(t, few), d, rs, snapshot.CoversEverything()), d, "v2")
	if len(doc.Dependents) != 1 || doc.Dependents[0].Object.Name != "new" || len(doc.Patches) != 0 {
		t.Errorf("exposed %+v, patches %+v", doc.Dependents, doc.Patches)
	}
	if !noted(doc, reason.OnlyVersion) || !noted(doc, reason.StorageVersion) || !noted(doc, reason.StorageUnknown) {
		t.Errorf("notes %+v", doc.Notes)
	}
}

// An owner that is not in the snapshot, where not everything was seen, may live: what
// names it is exposed, nobody knows to what, and gets no patch.
func TestOwnerThatWasNotSeen(t *testing.T) {
	d := definition(false)
	coverage := &snapshot.Coverage{}
	coverage.Add(schema.GroupResource{Resource: "configmaps"}, "")
	doc := judge(t, take(t, parse(t, few), d, resources(false), coverage), d, "v1")
	outcomes, patched := map[string]report.Outcome{}, map[string]bool{}
	for _, x := range doc.Dependents {
		outcomes[x.Object.Name] = x.Outcome
	}
	for _, p := range doc.Patches {
		patched[p.Object.Name] = true
	}
	if diff := cmp.Diff(map[string]report.Outcome{"old": report.Deleted, "absent": report.Unknown}, outcomes); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if !patched["old"] || patched["absent"] || doc.Complete || !noted(doc, reason.NotMigrated) {
		t.Errorf("patched %v, complete %v, notes %+v", patched, doc.Complete, doc.Notes)
	}
}

// TestTooManyToTryOtherOrders: where too much is on its way to try another order, nothing is safe
// because it goes in any case (race.txt has the same with two objects).
func TestTooManyToTryOtherOrders(t *testing.T) {
	const below = "v1 ConfigMap n/going deleting fin=foregroundDeletion\n" +
		"v1 ConfigMap n/between owners=going fin=orphan\nexample.com/v2 Thing n/x owners=between\n" +
		"v1 ConfigMap n/below owners=example.com/v1:Thing:x:x,going\n"
	const absent = "v1 ConfigMap n/garbage owners=example.com/v1:Thing:nobody:nobody,v1:ConfigMap:absent:absent\n"
	for _, others := range []int{0, plan.MostInReach} {
		var world strings.Builder
		world.WriteString(below + absent)
		for i := range others {
			fmt.Fprintf(&world, "v1 Secret n/s%d owners=going\n", i)
		}
		d := definition(true)
		doc := judge(t, take(t, parse(t, world.String()), d, resources(true), snapshot.CoversEverything()), d, "v1")
		var exposed, safe []string
		for i := range doc.Dependents {
			exposed = append(exposed, doc.Dependents[i].Object.Name)
		}
		for _, s := range doc.Safe {
			safe = append(safe, s.Object.Name+" "+s.Reason)
		}
		want, wantSafe := []string{"below"}, []string{"garbage OwnerNotLiving"}
		if diff := cmp.Diff(want, exposed); diff != "" {
			t.Errorf("exposed beside %d others (-want +got):\n%s", others, diff)
		}
		if diff := cmp.Diff(wantSafe, safe); diff != "" {
			t.Errorf("safe beside %d others (-want +got):\n%s", others, diff)
		}
	}
}

func TestUnknownVersionAndUnseenDefinition(t *testing.T) {
	d := definition(false)
	snap := take(t, nil, d, resources(false), snapshot.CoversEverything())
	_, err := unserve.Judge(t.Context(), snap, d, "v3", unserve.Options{})
	if unknown, ok := errors.AsType[*unserve.UnknownVersionError](err); !ok || !slices.Equal(unknown.Versions, []string{"v1", "v2"}) {
		t.Errorf("%v, want an unknown version", err)
	}
	bare := d.Clone()
	bare.Lifecycle = nil
	if _, err := unserve.Judge(t.Context(), snap, bare, "v1", unserve.Options{}); err == nil || !strings.Contains(err.Error(), "whole CRD") {
		t.Errorf("%v, want that the CRD was not seen", err)
	}
}

// A name that a shell or a terminal would act on is in no command, and in the patch it
// is data.
func TestHostileNamesAreInNoCommand(t *testing.T) {
	for name, wanted := range map[string]bool{
		"plain": true, "it's": true, "$(reboot)": true, "a\nb": false, "\x1b[2J": false, "\u202ename": false, "--all": false,
	} {
		o := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: name, UID: "u"}, ResourceVersion: "1"}
		o.Owners = []object.OwnerReference{{APIVersion: older, Kind: kind, Name: "x", UID: "x", Controller: object.False}}
		d := definition(false)
		doc := judge(t, take(t, append(parse(t, "example.com/v2 Thing x"), o), d, resources(false), snapshot.CoversEverything()), d, "v1")
		if len(doc.Patches) != 1 {
			t.Fatalf("%q: %d patches", name, len(doc.Patches))
		}
		p := doc.Patches[0]
		if (p.Command != "") != wanted {
			t.Errorf("%q: command %q", name, p.Command)
		}
		var ops []struct {
			Op, Path string
			Value    json.RawMessage
		}
		if err := json.Unmarshal([]byte(p.Patch), &ops); err != nil || len(ops) != 3 ||
			ops[0].Path != "/metadata/uid" || ops[1].Op != "test" || ops[2].Op != "replace" ||
			ops[2].Path != "/metadata/ownerReferences/0/apiVersion" || string(ops[2].Value) != `"`+newer+`"` {
			t.Errorf("%q: patch %s, %v", name, p.Patch, err)
		}
		if string(ops[1].Value) != `{"apiVersion":"example.com/v1","kind":"Thing","name":"x","uid":"x","controller":false}` {
			t.Errorf("%q: the test of the reference is %s", name, ops[1].Value)
		}
	}
}

// The same snapshot gives the same bytes, is not changed, and every word is documented.
func TestPropertyPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := draw(t, scenario.Wild)
		if rapid.Bool().Draw(t, "whole") {
			d.version = ""
		}
		d.judge(t) // a snapshot takes its objects over, and brings them to their stored version
		before := make([]*object.Object, len(d.objects))
		for i, o := range d.objects {
			before[i] = o.Clone()
			before[i].Owners = slices.Clone(o.Owners)
		}
		first, second := d.judge(t), d.judge(t)
		a, _ := json.Marshal(first)
		b, _ := json.Marshal(second)
		if !bytes.Equal(a, b) {
			t.Fatalf("two answers differ:\n%s\n%s", a, b)
		}
		for i, o := range d.objects {
			if !object.Equal(o, before[i]) {
				t.Fatalf("%s was changed", o.Ref)
			}
		}
		for _, x := range first.Dependents {
			for _, w := range x.When {
				if reason.Condition.Of(reason.Code(w.Condition)) == nil {
					t.Fatalf("nobody documents %s", w.Condition)
				}
			}
		}
		for _, x := range first.Safe {
			if reason.Safe.Of(reason.Code(x.Reason)) == nil {
				t.Fatalf("nobody documents %s", x.Reason)
			}
		}
		n := first.Summary
		if n.Exposed != n.Deleted+n.Blocked+n.Pruned+n.Unknown || n.Exposed != len(first.Dependents) || n.Safe != len(first.Safe) {
			t.Fatalf("the summary does not add up: %+v", n)
		}
	})
}
