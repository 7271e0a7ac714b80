package differential

import (
	"bytes"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// A seed is one story, whenever and wherever it is drawn.
func TestSeedsAreStories(t *testing.T) {
	for seed := range uint64(50) {
		if a, b := draw(seed), draw(seed); text(a.objects) != text(b.objects) || len(a.phases) != len(b.phases) {
			t.Errorf("seed %d is drawn as\n%s\nand as\n%s", seed, text(a.objects), text(b.objects))
		}
	}
}

// What goes into storage is what was drawn, and it comes back under the names that
// it was drawn with.
func TestPlacedObjectsComeBack(t *testing.T) {
	for seed := range uint64(50) {
		s := draw(seed)
		var back []*object.Object
		for _, o := range s.objects {
			one, err := stored(placeOf(7).put(o))
			if err != nil {
				t.Fatal(err)
			}
			err = manifest.Read(bytes.NewReader(one.Manifest), manifest.Options{}, manifest.Handler{
				Object: func(o *object.Object, _ bool, _ manifest.Position) error {
					if slot, ok := slotOf(o); !ok || slot != 7 {
						t.Errorf("%s is in slot %d, %t", o.Ref, slot, ok)
					}
					back = append(back, placeOf(7).take(o))
					return nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if a, b := text(s.objects), text(back); a != b {
			t.Errorf("seed %d:\n%s\ncame back as\n%s", seed, a, b)
		}
	}
}

// The text of a state is read back as the same state, so that a disagreement can
// become a scenario.
func TestTextsAreWorlds(t *testing.T) {
	for seed := range uint64(50) {
		before := text(draw(seed).objects)
		objects, err := scenario.ParseWorld(before, scenario.Names{})
		if err != nil {
			t.Fatal(err)
		}
		if after := text(objects); after != before {
			t.Errorf("seed %d:\n%s\nis read as\n%s", seed, before, after)
		}
	}
}

// Most scenario files have worlds that a real cluster can hold.
func TestScenarioFilesAreStories(t *testing.T) {
	stories, err := fileStories(scenarios)
	if err != nil {
		t.Fatal(err)
	}
	fit := 0
	for _, s := range stories {
		if s.unfit == "" {
			fit++
			continue
		}
		t.Logf("%s: %s", s.file, s.unfit)
	}
	if fit*2 < len(stories) {
		t.Errorf("%d of %d worlds fit", fit, len(stories))
	}
}
