package replay

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/claims"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/differential"
)

// repository is the way to the root of the repository from here.
const repository = "../../.."

// served are the scenario files of the simulated API server.
const served = "../../../internal/apisim/testdata/scenarios/*.txt"

// Every request of the scenario files is answered by a real API server as the files
// say, and leaves the world as they say.
func TestReplay(t *testing.T) {
	t.Parallel() // beside the stages of TestRest
	s, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}()
	files, err := filepath.Glob(served)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	total, ran, fit := tally{}, 0, 0
	var shown []string
	for _, file := range files {
		name := filepath.Base(file)
		if why, ok := unfit[name]; ok {
			t.Logf("%s: not here: %s", name, why)
			continue
		}
		fit++
		t.Run(name, func(t *testing.T) {
			ran++
			p := newPlay(s, name)
			defer func() {
				if err := p.allow(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			datadriven.RunTest(t, file, p.run)
			lines, err := claims.Claims("replay", file)
			if err != nil {
				t.Fatal(err)
			}
			shown = append(shown, lines...)
			total.directives += p.tally.directives
			total.requests += p.tally.requests
			total.objects += p.tally.objects
		})
	}
	if ran == fit {
		wrong, err := claims.Disagreement("replay", shown)
		if err != nil {
			t.Fatal(err)
		}
		if wrong != "" {
			t.Errorf("%s claims too much (-) or too little (+):\n%s", claims.File, wrong)
		}
	}
	t.Logf("%d files, %d directives, %d requests, %d comparisons of objects on %s", ran, total.directives, total.requests, total.objects, s.Release())
}

// controlled are the scenario files of worlds that settle under controllers.
var controlled = []string{
	repository + "/internal/apisim/controllers/testdata/scenarios/*.txt",
	repository + "/internal/engine/testdata/scenarios/*.txt",
}

// stages is how many control planes bring worlds to rest side by side: all of them
// wait most of the time.
const stages = 4

// Worlds settle under real controllers where the scenario files say.
func TestRest(t *testing.T) {
	t.Parallel()
	var shown []string
	var mu sync.Mutex
	files, ran := 0, 0
	t.Run("stages", func(t *testing.T) {
		for _, part := range parts(t, stages) {
			files += len(part)
			t.Run("stage", func(t *testing.T) {
				t.Parallel()
				s, err := open()
				if err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := s.Stop(); err != nil {
						t.Error(err)
					}
				}()
				t.Logf("%d files on %s", len(part), s.Release())
				for _, f := range part {
					t.Run(filepath.Base(f.path), func(t *testing.T) {
						lines := f.play(t, s)
						mu.Lock()
						defer mu.Unlock()
						ran++
						shown = append(shown, lines...)
					})
				}
			})
		}
	})
	if ran != files {
		return
	}
	wrong, err := claims.Disagreement("rest", shown)
	if err != nil {
		t.Fatal(err)
	}
	if wrong != "" {
		t.Errorf("%s claims too much (-) or too little (+):\n%s", claims.File, wrong)
	}
}

// restingFile is a file, and the directive that brings its worlds to rest.
type restingFile struct{ path, by string }

// play has the worlds of the file settle, and returns what that shows.
func (f restingFile) play(t *testing.T, s *stage) []string {
	t.Helper()
	p := newRest(s, filepath.Base(f.path), f.by)
	defer func() {
		if err := p.dismiss(); err != nil {
			t.Error(err)
		}
	}()
	datadriven.RunTest(t, f.path, p.run)
	lines, err := claims.Claims("rest", f.path)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// parts deals the files out.
func parts(t *testing.T, n int) [][]restingFile {
	t.Helper()
	dealt := make([][]restingFile, n)
	next := 0
	for _, pattern := range controlled {
		matches, err := filepath.Glob(pattern)
		if err != nil || len(matches) == 0 {
			t.Fatalf("%d files: %v", len(matches), err)
		}
		for _, file := range matches {
			by, why, err := rests(file)
			if err != nil {
				t.Fatal(err)
			}
			if why != "" {
				t.Logf("%s: not here: %s", filepath.Base(file), why)
				continue
			}
			dealt[next%n] = append(dealt[next%n], restingFile{file, by})
			next++
		}
	}
	return dealt
}

// rests says by which directive the worlds of a file settle, or why it does
// not run: package differential has it, it is unfit, or it is about single steps.
func rests(file string) (by, why string, err error) {
	if why, ok := unfit[filepath.Base(file)]; ok {
		return "", why, nil
	}
	done, err := differential.Whole(file)
	if err != nil || done {
		return "", "package differential runs it", err
	}
	return comesToRest(file)
}

// run carries a directive out on both servers and returns what the simulated one
// says, which is what the file says of its release.
func (p *play) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	p.tally.directives++
	if d.Cmd == "cluster" {
		out := p.env.Run(t, d)
		if err := p.raise(t.Context(), d); err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
		var wrong []string
		var err error
		if p.rest == "" {
			wrong, err = p.compareWorld(t.Context())
		}
		if err != nil || len(wrong) > 0 {
			t.Fatalf("%s: the world does not stand: %v\n%s", d.Pos, err, strings.Join(wrong, "\n"))
		}
		return out
	}
	local := slices.ContainsFunc(notAsked, func(prefix string) bool { return strings.HasPrefix(d.Expected, prefix) })
	r, asked, err := reply{}, false, error(nil)
	if !local {
		r, asked, err = p.request(t.Context(), d)
	}
	if errors.Is(err, errClient) {
		asked, err = false, nil
	}
	if err != nil {
		t.Fatalf("%s: %v", d.Pos, err)
	}
	if err := p.spend(t.Context(), r); err != nil {
		t.Fatalf("%s: %v", d.Pos, err)
	}
	out := p.env.Run(t, d)
	if err := p.learn(d, r); asked && err != nil {
		t.Fatalf("%s: %v", d.Pos, err)
	}
	said := *d
	said.Expected = out
	wrong, err := p.differences(t.Context(), &said, r, asked)
	if err != nil {
		t.Fatalf("%s: %v", d.Pos, err)
	}
	for _, w := range wrong {
		t.Errorf("%s: %s %s: %s", d.Pos, d.Cmd, d.CmdArgs, w)
	}
	if p.told != cmp.Or(p.Minor(), release.Newest) {
		return d.Expected // of another release; the tests beside the file judge it
	}
	return out
}

// What real.txt says of package differential is what its test of the scenario
// files runs to the end.
func TestClaimsOfDifferential(t *testing.T) {
	files, err := filepath.Glob(repository + "/internal/engine/testdata/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	var shown []string
	for _, file := range files {
		ok, err := differential.Whole(file)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			continue
		}
		lines, err := claims.Claims("differential", file)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, lines...)
	}
	wrong, err := claims.Disagreement("differential", shown)
	if err != nil {
		t.Fatal(err)
	}
	if wrong != "" {
		t.Errorf("%s claims too much (-) or too little (+):\n%s", claims.File, wrong)
	}
}

// TestMain has all stages play at a time, however few processors there are: they wait
// for controllers, not for the machine.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(stages+2)); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
