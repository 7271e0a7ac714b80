package pages

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/docs/markdown"
)

// walk is a reader on the way through a page.
type walk struct {
	*session
	stage stage
	page  markdown.Page
	names names
	// backup is the directory that a command has named last.
	backup string
	// commands is how many commands of the page were run.
	commands int
}

// through runs the commands of a page from its beginning to its end, and compares
// what it shows with what they print.
func (w *walk) through() {
	w.prepare(w.stage.Before)
	var fresh strings.Builder
	written := 0
	for _, b := range w.page.Blocks() {
		if b.Marker.Kind != markdown.Live {
			continue
		}
		steps, err := b.Steps()
		if err != nil {
			w.t.Fatalf("%s:%d: %v", w.page.Path, b.Line, err)
		}
		outputs := make([]string, len(steps))
		for i, step := range steps {
			outputs[i] = w.take(b, step)
		}
		if b.Language == "console" {
			fresh.Write(w.page.Source[written:b.Start])
			fresh.WriteString(b.Shows(steps, outputs))
			written = b.End
		}
	}
	fresh.Write(w.page.Source[written:])
	w.check("at the end", w.stage.After)
	for _, e := range w.stage.Commands {
		w.t.Errorf("%s has no command (any more) that begins with %q", w.page.Path, e.Is)
	}
	w.compare(fresh.String())
}

// take runs one command of the page, and returns what is shown of its output.
func (w *walk) take(b markdown.Block, step markdown.Step) string {
	w.commands++
	e := w.stage.takes(step.Text)
	if len(e.Controllers) > 0 {
		if err := control(w.t.Context(), e.Controllers); err != nil {
			w.t.Fatal(err)
		}
	}
	w.prepare(e.Before)
	r := w.do(step.Text, w.interruption(e))
	at := step.Line + b.Line
	if r.code != e.Code {
		w.t.Fatalf("%s:%d: %s\nends with exit code %d, not %d:\n%s", w.page.Path, at, step.Text, r.code, e.Code, r.output)
	}
	for _, text := range e.Says {
		if !strings.Contains(r.output, text) {
			w.t.Errorf("%s:%d: %s\ndoes not say %q:\n%s", w.page.Path, at, step.Text, text, r.output)
		}
	}
	w.check("after "+step.Text, e.After)
	if b.Language != "console" {
		return ""
	}
	shown, err := w.shown(r.output)
	if err != nil {
		w.t.Fatalf("%s:%d: %s\n%v:\n%s", w.page.Path, at, step.Text, err, r.output)
	}
	return shown
}

// interruption is when a command of the page is ended; nil for one that ends by itself.
func (w *walk) interruption(e expected) *interruption {
	if e.Until == "" {
		return nil
	}
	return &interruption{e.Until, func() error {
		return cluster.Await(w.t.Context(), fmt.Sprintf("the cluster answers %+v", e.Meanwhile), func(ctx context.Context) (bool, error) {
			for _, c := range e.Meanwhile {
				ask := exec.CommandContext(ctx, "bash", "-c", c.Run)
				ask.Env = w.bash.Env
				if out, err := ask.Output(); err != nil || strings.TrimSpace(string(out)) != strings.TrimSpace(c.Prints) {
					return false, nil
				}
			}
			return true, nil
		})
	}}
}

// do runs a command with what the words of the page stand for here.
func (w *walk) do(command string, end *interruption) result {
	w.t.Helper()
	command = w.names.meant(command)
	for _, word := range written {
		command = word.form.ReplaceAllLiteralString(command, word.real(w))
	}
	r, err := w.run(command, end)
	if err != nil {
		w.t.Fatalf("%s: %s\n%v", w.page.Path, command, err)
	}
	if testing.Verbose() {
		w.t.Logf("$ %s\n%s(%d)", command, r.output, r.code)
	}
	w.names.learn(r.output)
	if found := backupForm.FindStringSubmatch(r.output); found != nil {
		w.backup = found[1]
	}
	return r
}

// shown is an output as a page has it, with fixed words for what differs.
func (w *walk) shown(output string) (string, error) {
	output = strings.ReplaceAll(output, w.home, "/home/ann")
	output = strings.ReplaceAll(output, w.temporary+"/", "/tmp/")
	for _, c := range changing {
		output = c.form.ReplaceAllString(output, c.word)
	}
	return w.names.shown(output)
}

// prepare runs commands that are not of the page.
func (w *walk) prepare(commands []string) {
	w.t.Helper()
	for _, c := range commands {
		if r := w.do(c, nil); r.code != 0 {
			w.t.Fatalf("the stage of %s: %s\nends with exit code %d:\n%s", w.page.Path, c, r.code, r.output)
		}
	}
}

// check asks the cluster.
func (w *walk) check(when string, all []check) {
	w.t.Helper()
	for _, c := range all {
		r := w.do(c.Run, nil)
		if got := strings.TrimSpace(r.output); r.code != 0 || got != strings.TrimSpace(c.Prints) {
			w.t.Errorf("%s, %s: %s\nexit code %d, prints\n%s\nwant\n%s", w.page.Path, when, c.Run, r.code, got, c.Prints)
		}
	}
}

// compare writes the page anew, or says how it differs.
func (w *walk) compare(fresh string) {
	if *update && !w.t.Failed() {
		if err := os.WriteFile(filepath.Join(root, w.page.Path), []byte(fresh), 0o644); err != nil {
			w.t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(w.page.Source), fresh); diff != "" {
		w.t.Errorf("%s shows something else (-shown +printed); -update rewrites it:\n%s", w.page.Path, diff)
	}
}
