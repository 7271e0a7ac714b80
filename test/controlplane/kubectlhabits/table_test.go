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

// TestPage: the rows that docs/from-kubectl.md shows are rows of the table.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, part := range table(t) {
		for _, r := range part.rows {
			known[fmt.Sprintf("| `%s` | %d | `%s` |\n", r.typed, r.code, r.says)] = true
		}
	}
	shown := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		shown++
		if !known[line] {
			t.Errorf("%s shows a row that is not in testdata/commands.tsv: %s", page, line)
		}
	}
	const least = 30 // what it showed when this was written
	if shown < least {
		t.Errorf("%s shows only %d rows", page, shown)
	}
}
