package kubectlhabits

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// row is one line that somebody types, and what has to come of it.
type row struct {
	typed string
	code  int
	// says is in what is said: of what works a piece of the answer, of what fails the next
	// command.
	says string
}

// section is a part of the table.
type section struct {
	title string
	rows  []row
}

// table reads testdata/commands.tsv: what is typed, the exit code, and what is said.
func table(t *testing.T) []section {
	t.Helper()
	text, err := os.ReadFile("testdata/commands.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var sections []section
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if title, ok := strings.CutPrefix(line, "# "); ok {
			sections = append(sections, section{title: title})
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != 3 || len(sections) == 0 {
			t.Fatalf("%q is no row of the table", line)
		}
		code, err := strconv.Atoi(cells[1])
		if err != nil {
			t.Fatal(err)
		}
		last := &sections[len(sections)-1]
		last.rows = append(last.rows, row{cells[0], code, cells[2]})
	}
	return sections
}

// TestTyped types every row.
func TestTyped(t *testing.T) {
	user(t)
	for _, part := range table(t) {
		for _, r := range part.rows {
			t.Run(r.typed, func(t *testing.T) {
				var out, errOut bytes.Buffer
				code := typed(t.Context(), r.typed, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut})
				if said := out.String() + errOut.String(); code != r.code || !strings.Contains(said, r.says) {
					t.Errorf("exit code %d, want %d and %q:\n%s", code, r.code, r.says, said)
				}
			})
		}
	}
}

const page = "../../../docs/from-kubectl.md"

// TestPage: docs/from-kubectl.md has the table, behind what it says in words.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const mark = "<!-- the table is testdata/commands.tsv of test/controlplane/kubectlhabits: go test ./kubectlhabits -update -->\n"
	words, _, found := strings.Cut(string(text), mark)
	if !found {
		t.Fatalf("%s has no place for the table", page)
	}
	var b strings.Builder
	b.WriteString(words + mark)
	for _, part := range table(t) {
		fmt.Fprintf(&b, "\n## %s\n\n| behind `kubectl gc` | exit code | says |\n|---|---|---|\n", part.title)
		for _, r := range part.rows {
			fmt.Fprintf(&b, "| `%s` | %d | `%s` |\n", r.typed, r.code, r.says)
		}
	}
	if b.String() == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s has another table: run go test ./kubectlhabits -update", page)
	}
	if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
