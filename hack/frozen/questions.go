package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// How many objects of an input are asked about.
const (
	worldTargets = 2
	inputTargets = 8
)

// writeWorlds writes drawn worlds as snapshots and returns their paths. About half of the
// snapshots show only some kinds.
func writeWorlds(dir string, seed, n int) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	seen := rapid.Custom(func(t *rapid.T) *snapshot.Snapshot {
		world := scenario.DrawCluster(t, scenario.DrawVariety(t))
		return world.DrawSnapshot(t, 5)
	})
	var paths []string
	for i := range n {
		path := filepath.Join(dir, fmt.Sprintf("world-%d.json", seed+i))
		f, err := os.Create(path)
		if err != nil {
			return nil, err
		}
		err = seen.Example(seed+i).Write(f, snapshot.Uncompressed, snapshot.Evidence{})
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// ask writes the questions about one input, one a line.
func ask(w io.Writer, path string, targets int) error {
	out := bufio.NewWriter(w)
	ask := func(question string, args ...any) {
		fmt.Fprintf(out, question+" --from %s\n", append(args, path)...)
	}
	for _, command := range []string{"check", "stuck", "doctor", "risk", "collect", "graph -A"} {
		ask("%s", command)
		ask("%s -o json", command)
	}
	snap, err := snapshot.ReadFiles([]string{path}, snapshot.Options{})
	if err != nil {
		// The commands refuse it as well, and that is an answer.
		return out.Flush()
	}
	for i, o := range spread(snap.Objects, targets) {
		target := nameOf(snap.Resources, o)
		ask("explain %s -o json", target)
		ask("dry-run delete %s -o json --steps", target)
		ask("dry-run delete %s -o json --cascade=foreground", target)
		ask("dry-run delete %s -o json --cascade=orphan", target)
		ask("graph %s -o json", target)
		if i%4 == 0 {
			ask("explain %s", target)
			ask("dry-run delete %s -o wide", target)
			ask("dry-run delete %s -o svg", target)
			ask("graph %s -o dot", target)
		}
		for _, finalizer := range o.Finalizers() {
			ask("remove-finalizer %s %s -o json", target, finalizer)
		}
	}
	return out.Flush()
}

// spread picks at most n of the objects, evenly, and before them one namespace.
func spread(objects []*object.Object, n int) []*object.Object {
	var picked []*object.Object
	for _, o := range objects {
		if o.Is(object.Namespace) {
			picked = append(picked, o)
			break
		}
	}
	n = min(n, len(objects))
	for i := range n {
		picked = append(picked, objects[i*len(objects)/n])
	}
	return picked
}

// nameOf is an object as a command line names it: by its resource, or where that is not
// known by its kind.
func nameOf(resources *object.Resources, o *object.Object) string {
	name := o.Kind + "/" + o.Name
	if r, err := resources.For(o.APIVersion, o.Kind); err == nil {
		name = r.GroupResource().String() + "/" + o.Name
	}
	if o.Namespace != "" {
		name += " -n " + o.Namespace
	}
	return name
}

// answerAll writes the answers in the order of the questions; some are asked at once.
func answerAll(w io.Writer, program, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	asked := strings.Split(strings.TrimSpace(string(text)), "\n")
	answers := make([]chan string, len(asked))
	for i := range answers {
		answers[i] = make(chan string, 1)
	}
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	go func() {
		for i, question := range asked {
			free <- struct{}{}
			go func() {
				answers[i] <- answer(program, question)
				<-free
			}()
		}
	}()
	out := bufio.NewWriter(w)
	for _, a := range answers {
		fmt.Fprintln(out, <-a)
	}
	return out.Flush()
}

// answer asks one question, without the environment of the user.
func answer(program, question string) string {
	cmd := exec.Command(program, strings.Fields(question)...)
	cmd.Env = []string{"HOME=/nonexistent", "COLUMNS=120"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return fmt.Sprintf("%v: %s", err, question)
	}
	return fmt.Sprintf("%d %s %s %s", cmd.ProcessState.ExitCode(), sum(stdout.Bytes()), sum(stderr.Bytes()), question)
}

// sum is enough of a hash to tell answers apart.
func sum(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text))[:16] }
