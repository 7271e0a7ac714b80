package draw

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
		TakenBy:  []string{"cm/object-0 -n shop (Background, Foreground (not certain))"},
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
