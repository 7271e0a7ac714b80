package draw

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func TestExplained(t *testing.T) {
	d := rows(3, numbered)
	d.Explanation = &report.Explanation{
		Object:        d.Scene.Boxes[1].Refs[0],
		WaitsFor:      []report.Finding{{Message: hostilePage}},
		TakenBy:       []report.Taker{{Object: d.Scene.Boxes[0].Refs[0], Policy: "Background"}, {Object: d.Scene.Boxes[0].Refs[0], Policy: "Foreground", Unknown: true}},
		TakersUntried: 4,
		Remedies:      []report.Remedy{{Command: hostilePage, Effect: "helps", Cost: "a lot"}},
	}
	_, p := embedded(t, write(t, d))
	want := &explained{
		Object: 1, WaitsFor: []string{hostilePage}, TakersUntried: 4,
		TakenBy:  []string{"cm/object-0 -n shop (Background, Foreground (uncertain))"},
		Remedies: []remedy{{hostilePage, "helps — costs: a lot"}},
	}
	if diff := cmp.Diff(want, p.Explained); diff != "" {
		t.Errorf("-want +embedded:\n%s", diff)
	}
	d.Explanation.Object.Name = "not drawn"
	if _, p := embedded(t, write(t, d)); p.Explained != nil {
		t.Errorf("what is said of an object that is not drawn is embedded: %+v", p.Explained)
	}
}

func box(look Look, apiVersion, kind, name string) Box {
	return Box{Refs: []object.Ref{{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(kind + name)}}, Look: look}
}

func TestQuiet(t *testing.T) {
	deleted := Look(report.Deleted)
	target := box(deleted, "v1", "Event", "asked for")
	target.Target = true
	boxes := []Box{
		box(deleted, "v1", "Pod", "web"),
		box(deleted, "v1", "Event", "pulled"),
		box(deleted, "events.k8s.io/v1", "Event", "started"),
		box(deleted, "discovery.k8s.io/v1", "EndpointSlice", "web-1"),
		box(Plain, "coordination.k8s.io/v1", "Lease", "lock"),
		box(deleted, "v1", "ConfigMap", "kube-root-ca.crt"),
		// These are shown: they are targets, blocked, kept, owners, or not generated.
		target,
		box(Look(report.Blocked), "v1", "Event", "held"),
		box(Look(report.Orphaned), "discovery.k8s.io/v1", "EndpointSlice", "web-2"),
		box(Look(report.Unknown), "coordination.k8s.io/v1", "Lease", "seen by nobody"),
		box(Plain, "coordination.k8s.io/v1", "Lease", "owns the pod"),
		box(Plain, "v1", "Event", "explained"),
		box(deleted, "v1", "ConfigMap", "settings"),
		box(deleted, "acme.io/v1", "Event", "of another group"),
		box(deleted, "v1", "Secret", "password"),
	}
	s := &Scene{Boxes: boxes, Arrows: []Arrow{{Owner: 10, Dependent: 0}}}
	if diff := cmp.Diff([]int{1, 2, 3, 4, 5}, quietBoxes(s, 11)); diff != "" {
		t.Errorf("-want +quiet:\n%s", diff)
	}
	if quiet := quietBoxes(&Scene{Boxes: boxes[1:6]}, -1); quiet != nil {
		t.Errorf("a drawing of nothing else hides %v", quiet)
	}
}

func TestDataAmong(t *testing.T) {
	p := &report.Plan{Summary: report.Summary{ByKind: []report.Count{
		{APIVersion: "v1", Kind: "Secret", Data: report.SecretData},
		{APIVersion: "v1", Kind: "PersistentVolumeClaim", Data: report.VolumeData},
		{APIVersion: "acme.io/v1", Kind: "Database", Data: report.CustomData},
		{APIVersion: "v1", Kind: "Pod"},
	}}}
	var boxes []Box
	add := func(apiVersion, kind, name string, outcome, later report.Outcome) {
		boxes = append(boxes, box(Look(outcome), apiVersion, kind, name))
		p.Effects = append(p.Effects, report.Effect{Object: boxes[len(boxes)-1].Refs[0], Outcome: outcome, Later: later})
	}
	add("v1", "Secret", "a", report.Deleted, "")
	add("v1", "Pod", "b", report.Deleted, "")
	add("acme.io/v1", "Database", "c", report.Blocked, "")
	add("v1", "PersistentVolumeClaim", "d", report.Deleted, "")
	add("v1", "PersistentVolumeClaim", "stays", report.Kept, "")
	add("v1", "PersistentVolumeClaim", "goes later", report.Kept, report.Deleted)
	add("v1", "Secret", "not known", report.Unknown, "")
	boxes = append(boxes, box(Plain, "v1", "Secret", "not concerned"))
	if diff := cmp.Diff([]int{3, 5, 2, 0, 6}, dataBoxes(boxes, p)); diff != "" {
		t.Errorf("-want +data:\n%s", diff)
	}
	if data := dataBoxes(boxes, nil); data != nil {
		t.Errorf("a graph has data that goes: %v", data)
	}
}
