package pages

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// stage says what a page needs, and what its commands do that is not said by an exit
// code of 0. It stands in testdata, in a directory with the path of the page.
type stage struct {
	// Definitions are manifests of kinds. They are served before the controllers
	// start: these look for new kinds only now and then.
	Definitions []string `json:"definitions"`
	// Controllers are those of kube-controller-manager that run.
	Controllers []string `json:"controllers"`
	// Before are commands that make what the page speaks of. In them, $STAGE is the
	// directory of the stage and $OBJECTS the one with manifests for many of them.
	Before []string `json:"before"`
	// Commands say more about some of the commands, in the order of the page.
	Commands []expected `json:"commands"`
	// After is what has become of it all.
	After []check `json:"after"`
}

// expected is what a command of a page does.
type expected struct {
	// Is is the first line of the command, as it stands on the page.
	Is string `json:"is"`
	// Controllers replace the others, if there are any; "none" is none.
	Controllers []string `json:"controllers"`
	// Before is done right before it.
	Before []string `json:"before"`
	// Code is the exit code.
	Code int `json:"code"`
	// Says is what it prints, among other things.
	Says []string `json:"says"`
	// Until is what it prints, and Meanwhile what becomes true, before somebody types
	// Ctrl-C; of a command that does not end by itself.
	Until     string  `json:"until"`
	Meanwhile []check `json:"meanwhile"`
	// After is what it has done.
	After []check `json:"after"`
}

// check is a question to the cluster, and its answer.
type check struct {
	Run    string `json:"run"`
	Prints string `json:"prints"`
}

const (
	// root is the root of the repository, seen from here.
	root      = "../../.."
	collector = "garbage-collector-controller"
	none      = "none"
)

// stages are the stages of testdata, by page.
func stages(t *testing.T) map[string]stage {
	t.Helper()
	found := map[string]stage{}
	for _, page := range files(t, "stage.yaml") {
		raw, err := os.ReadFile(filepath.Join("testdata", page, "stage.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var s stage
		if err := yaml.UnmarshalStrict(raw, &s); err != nil {
			t.Fatalf("the stage of %s: %v", page, err)
		}
		found[filepath.ToSlash(page)] = s
	}
	return found
}

// files are the directories of testdata with a file of this name.
func files(t *testing.T, name string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir("testdata", func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == name {
			dir, errOf := filepath.Rel("testdata", filepath.Dir(path))
			found, err = append(found, dir), errOf
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// running are the controllers that run.
var running []string

// enter makes the kinds of a stage, and starts its controllers.
func (s stage) enter(ctx context.Context) error {
	for _, file := range s.Definitions {
		if _, err := plane.Kubectl(ctx, nil, "create", "-f", filepath.Join("testdata", "objects", file)); err != nil {
			return err
		}
	}
	if len(s.Definitions) == 0 {
		return control(ctx, s.Controllers)
	}
	if _, err := plane.Kubectl(ctx, nil, "wait", "crd", "--all", "--for=condition=Established", "--timeout="+cluster.Patience.String()); err != nil {
		return err
	}
	if err := plane.Whole(ctx); err != nil {
		return err
	}
	running = nil // they have to look at the kinds anew
	return control(ctx, s.Controllers)
}

// control has these controllers run and no others, and waits until the collector
// works, if it is one of them: it takes something that nobody misses.
func control(ctx context.Context, names []string) error {
	if slices.Equal(names, []string{none}) {
		names = nil
	}
	if len(names) > 0 && slices.Equal(names, running) {
		return nil
	}
	running = names
	if err := plane.Controllers(names...); err != nil || !slices.Contains(names, collector) {
		return err
	}
	const orphan = `{apiVersion: v1, kind: ConfigMap, metadata: {name: collected, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: nobody, uid: never-was}]}}`
	if _, err := plane.Kubectl(ctx, []byte(orphan), "create", "-f", "-"); err != nil {
		return err
	}
	return cluster.Await(ctx, "the garbage collector works", func(ctx context.Context) (bool, error) {
		left, err := plane.Kubectl(ctx, nil, "get", "configmap/collected", "--ignore-not-found", "-o", "name")
		return len(left) == 0, err
	})
}

// takes is what is expected of a command of the page; the first one of the list that
// is of this command is taken off it.
func (s *stage) takes(command string) expected {
	first, _, _ := strings.Cut(command, "\n")
	first, _, _ = strings.Cut(first, "  #")
	first = strings.TrimSpace(first)
	for i, e := range s.Commands {
		if e.Is == first {
			s.Commands = slices.Delete(slices.Clone(s.Commands), i, i+1)
			return e
		}
	}
	return expected{}
}
