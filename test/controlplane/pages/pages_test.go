// Package pages runs the commands of the pages of documentation that need a cluster,
// as a reader does: in a shell at a terminal, with kubectl and its plugin on the
// PATH, against a real control plane. What a page needs before that is in testdata.
// The commands that need no cluster are run by test/docs.
package pages

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gojq "github.com/itchyny/gojq/cli"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/docs/markdown"
	"github.com/kubectl-gc/kubectl-gc/test/extent"
)

var (
	update = flag.Bool("update", false, "rewrite what pages of documentation show")
	// plane is the control plane of all pages.
	plane *cluster.Cluster
	// programs is a directory with what readers have on their PATH.
	programs string
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "jq" { // see install
		os.Exit(gojq.Run())
	}
	flag.Parse()
	dir, err := install()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	programs = dir
	code := cluster.Main(m, &plane, cluster.Audit)
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// install makes the programs that pages use and that not every machine has. This one
// is also a jq.
func install() (string, error) {
	dir, err := os.MkdirTemp("", "pages")
	if err != nil {
		return "", err
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if err := os.Symlink(self, filepath.Join(dir, "jq")); err != nil {
		return "", err
	}
	return dir, errors.Join(cluster.Install(dir), cluster.InstallKwok(dir))
}

// tasks are the pages that show once more, for one purpose each, what others describe.
const tasks = "docs/tasks/"

// TestPages runs every command of a page that is marked live, one page after the other
// on one control plane; those of the tasks when everything is tried. What a page has left
// behind is removed before the next one.
func TestPages(t *testing.T) {
	all, err := markdown.Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]markdown.Page{}
	for _, p := range all {
		if slices.ContainsFunc(p.Blocks(), func(b markdown.Block) bool { return b.Marker.Kind == markdown.Live }) {
			pages[p.Path] = p
		}
	}
	once, err := plane.Content(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := stages(t)
	commands, walked := 0, 0
	for _, name := range inTurn(found, pages) {
		page, ok := pages[name]
		if !ok {
			t.Errorf("there is no page %s with commands for a cluster (any more), but there is a stage for it", name)
			continue
		}
		if strings.HasPrefix(name, tasks) && !extent.All() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Cleanup(func() {
				if err := plane.Strike(context.WithoutCancel(t.Context()), once); err != nil {
					t.Error(err)
				}
			})
			if err := found[name].enter(t.Context()); err != nil {
				t.Fatal(err)
			}
			w := &walk{session: sit(t), stage: found[name], page: page, names: newNames()}
			w.through()
			commands, walked = commands+w.commands, walked+1
		})
	}
	t.Logf("%d commands of %d pages", commands, walked)
}

// inTurn are the pages in an order in which controllers are started anew as seldom as
// possible, and those first that tell what was deleted, of these the ones that do least: they
// would tell of the others.
func inTurn(found map[string]stage, pages map[string]markdown.Page) []string {
	later := func(name string) int {
		if slices.ContainsFunc(pages[name].Blocks(), func(b markdown.Block) bool { return strings.Contains(b.Text, "kubectl gc lost ") }) {
			return len(found[name].Commands)
		}
		return math.MaxInt
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return cmp.Or(
			cmp.Compare(later(a), later(b)),
			cmp.Compare(len(found[a].Definitions), len(found[b].Definitions)),
			cmp.Compare(strings.Join(found[a].Controllers, ","), strings.Join(found[b].Controllers, ",")),
			cmp.Compare(a, b),
		)
	})
}
