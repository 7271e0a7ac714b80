package differential

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// told is a story of a scenario file, as far as a real cluster can be told it.
type told struct {
	story
	file string
	// unfit says why no cluster can hold this world; empty when one can.
	unfit string
	// cut is the step before which the story ends; empty at the end of the file.
	cut string
}

// fileStories reads the worlds of scenario files and the deletes in them. A file
// may hold several worlds. Steps of the collector are left out: a real one does
// not stop between them.
func fileStories(pattern string) ([]told, error) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s: no scenario files: %w", pattern, err)
	}
	var all []told
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		all = append(all, storiesOf(filepath.Base(file), string(text))...)
	}
	return all, nil
}

// storiesOf reads one file, block by block.
func storiesOf(file, content string) []told {
	var all []told
	names := scenario.Names{}
	fresh := false // nothing happened since the last act, so that the next one belongs to its phase
	for block := range strings.SplitSeq(content, "\n\n") {
		lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(block), "\n"),
			func(l string) bool { return strings.HasPrefix(l, "#") || l == "" })
		if len(lines) == 0 || !slices.Contains(lines, "----") {
			continue
		}
		words := strings.Fields(lines[0])
		input := lines[1:slices.Index(lines, "----")]
		if words[0] == "cluster" {
			names = scenario.Names{}
			t := told{file: file}
			objects, err := scenario.ParseWorld(strings.Join(input, "\n"), names)
			switch {
			case err != nil:
				t.unfit = err.Error()
			case len(words) > 1:
				t.unfit = lines[0]
			default:
				t.unfit = unfit(objects)
			}
			t.objects = objects
			all, fresh = append(all, t), false
			continue
		}
		if len(all) == 0 || all[len(all)-1].cut != "" {
			continue
		}
		t := &all[len(all)-1]
		switch words[0] {
		case "delete":
			a, err := actOf(words[1:], names)
			if err != nil {
				t.cut = lines[0]
				continue
			}
			if !fresh {
				t.phases = append(t.phases, nil)
			}
			t.phases[len(t.phases)-1] = append(t.phases[len(t.phases)-1], a)
			fresh = true
		case "drain", "observe", "attempt", "wake", "act", "settle", "restart", "step":
			fresh = false
		case "create", "patch", "update", "remove", "fault", "deny", "collection", "finalize", "collector", "unwatch", "advance":
			t.cut = lines[0]
		}
	}
	return all
}

// actOf reads the words of a delete.
func actOf(words []string, names scenario.Names) (scenario.Act, error) {
	var a scenario.Act
	ref, known := names[types.UID(words[0])]
	rest := words[1:]
	if !known {
		if len(words) < 3 {
			return a, fmt.Errorf("%q is no object", words)
		}
		ref = object.Ref{APIVersion: words[0], Kind: words[1], Name: words[2]}
		if namespace, name, ok := strings.Cut(words[2], "/"); ok {
			ref.Namespace, ref.Name = namespace, name
		}
		rest = words[3:]
	}
	a.Ref = ref
	for _, w := range rest {
		policy, ok := strings.CutPrefix(w, "policy=")
		if !ok {
			return a, fmt.Errorf("%q cannot be said of a delete here", w)
		}
		a.Policy = metav1.DeletionPropagation(policy)
	}
	return a, nil
}

// unfit says why no cluster can hold the objects.
func unfit(objects []*object.Object) string {
	uids := map[types.UID]bool{}
	for _, o := range objects {
		if _, err := kindOf(o.Ref); err != nil {
			return err.Error()
		}
		if uids[o.UID] {
			return "two objects have the uid " + string(o.UID)
		}
		uids[o.UID] = true
	}
	return ""
}

// Whole reports whether a scenario file is run to its end here: every world of it, and
// everything that happens in them.
func Whole(file string) (bool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	stories := storiesOf(file, string(text))
	for _, t := range stories {
		if t.unfit != "" || t.cut != "" {
			return false, nil
		}
	}
	return len(stories) > 0, nil
}
