package shots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "draw docs/shots anew")

// taken are the pictures: their file names and commands. An argument has no blanks.
var taken = []struct {
	name, command string
	// columns is the width of the terminal.
	columns int
}{
	{"check", "kubectl gc check --from examples/garbage.yaml", usual},
	{"delete-deployment", "kubectl gc dry-run delete deployment/web -n shop --from examples/shop.yaml", usual},
	{"delete-namespace", "kubectl gc dry-run delete namespace/payments --from examples/payments-stuck.yaml", usual},
	{"explain", "kubectl gc explain database/orders -n payments --from examples/payments-stuck.yaml", usual},
	{"explain-stays", "kubectl gc explain pod/web-5d47c484f4-kdxq8 -n shop --from examples/shop.yaml", usual},
	{"graph", "kubectl gc graph deployment/web -n shop --from examples/shop.yaml", usual},
	{"risk", "kubectl gc risk -n shop --top 5 --from examples/cluster.yaml", usual},
	{"stuck", "kubectl gc stuck --from examples/trouble --at 2026-03-05T09:00:00Z", wide},
}

// The widths of terminals: what a page of a repository shows without scaling, and what
// a table with many columns takes.
const (
	usual = 108
	wide  = 140
)

// directory is where pages find the pictures.
const directory = "docs/shots"

// TestShots draws every picture and compares it with the file.
func TestShots(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Setenv("TERM", "xterm-256color")
	files := []string{filepath.Join(directory, question)}
	for _, shot := range taken {
		t.Run(shot.name, func(t *testing.T) {
			file := filepath.Join(directory, shot.name+".svg")
			files = append(files, file)
			compare(t, file, draw(t, shot.command, shot.columns))
		})
	}
	have, err := filepath.Glob(directory + "/*")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	if diff := cmp.Diff(files, have); diff != "" {
		t.Errorf("files of %s (-drawn +there):\n%s", directory, diff)
	}
}

func draw(t *testing.T, command string, columns int) []byte {
	t.Helper()
	shown, code := prints(t, columns, strings.Fields(strings.TrimPrefix(command, "kubectl gc ")), "")
	const found = 3
	if code != 0 && code != found {
		t.Fatalf("exit code %d: %s", code, shown)
	}
	lines, err := Screen(shown, columns)
	if err != nil {
		t.Fatal(err)
	}
	return Shot{Title: title(command), Spoken: command, Lines: append([]Line{Typed(command), {}}, lines...), Columns: columns}.SVG()
}

func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	wellFormed(t, got)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s shows something else (-file +printed); go test ./test/shots -update draws it:\n%s", file, diff)
	}
}

// wellFormed fails unless a picture is XML, with nothing that runs or is fetched.
func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			if !slices.Contains([]string{"svg", "title", "style", "rect", "path", "circle", "text", "tspan"}, e.Name.Local) {
				t.Errorf("an element %s", e.Name.Local)
			}
		}
	}
}

// title is a command without its targets and flags.
func title(command string) string {
	words := strings.Fields(command)
	for i, w := range words {
		if strings.HasPrefix(w, "-") || strings.Contains(w, "/") {
			return strings.Join(words[:i], " ")
		}
	}
	return command
}
