package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestCommittedTable(t *testing.T) {
	table, err := parseTable(scenarios)
	if err != nil {
		t.Fatal(err)
	}
	if len(table) != 231 {
		t.Errorf("%d behaviours, want 231: a behaviour is never dropped from the table", len(table))
	}
}

func TestParseTable(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"three columns", "head\nS001\tx\ty\n", "scenarios.tsv:2: 3 columns"},
		{"no number", "head\nT001\tx\ty\t\n", "number, section and text"},
		{"doubled", "head\nS002\tx\ty\t\nS002\tx\ty\t\n", "S002 does not come after S002"},
		{"empty", "head\n", "no rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := parseTable(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

func TestCollect(t *testing.T) {
	claims, err := collect(fstest.MapFS{
		"a/testdata/x.txt":    file("# Story.\n# Covers: S001, S002\n\nCovers: S009\n"),
		"a/testdata/y.md":     file("# Covers: S003\n"),
		"a/notes.txt":         file("# Covers: S004\n"),
		"b/run.txtar":         file("# Covers: S005.\n"),
		"b/b_test.go":         file("package b\n\n// TestX is one.\n//\n// Covers: S006\nfunc TestX() {\n\t// Covers: S007\n}\n"),
		".git/testdata/x.txt": file("# Covers: S008\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range claims {
		got = append(got, c.id+" "+c.file+" "+c.test)
	}
	want := "S001 a/testdata/x.txt |S002 a/testdata/x.txt |S006 b/b_test.go TestX|S007 b/b_test.go TestX|S005 b/run.txtar "
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("claims\n%s\nwant\n%s", s, want)
	}
}

func TestCollectRefuses(t *testing.T) {
	for _, c := range []struct{ name, path, text, want string }{
		{"a range", "testdata/x.txt", "# Covers: S001-S004\n", `testdata/x.txt:1: "S001-S004" is not a number`},
		{"nothing", "testdata/x.txt", "#Covers:\n", "is not a number"},
		{"no test", "x_test.go", "package x\n\n// Covers: S001\nfunc helped() {}\n", "x_test.go:3: Covers: does not stand at a test function"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := collect(fstest.MapFS{c.path: file(c.text)}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestContradictions(t *testing.T) {
	table := []behaviour{{id: "S001", section: "s", what: "w"}, {id: "S002", section: "s", what: "w", waits: "no kubelet"}}
	if err := contradictions(table, []claim{{id: "S001"}}); err != nil {
		t.Errorf("a known number was refused: %v", err)
	}
	for id, want := range map[string]string{
		"S999": "f:3: covers S999, which is not in scenarios.tsv",
		"S002": "f:3: covers S002, and scenarios.tsv says that it waits: no kubelet",
	} {
		if err := contradictions(table, []claim{{id: id, file: "f", line: 3}}); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestRender(t *testing.T) {
	got := render(
		[]behaviour{
			{id: "S001", section: "One", what: "a|b", waits: "x"},
			{id: "S002", section: "One", what: "c", waits: "no kubelet"},
			{id: "S003", section: "Two", what: "d"},
		},
		[]claim{
			{id: "S001", file: "p/z_test.go", test: "TestZ"},
			{id: "S001", file: "p/testdata/a.txt"},
			{id: "S001", file: "p/testdata/a.txt"},
		},
		map[string]shown{
			"S001": {by: []showing{{"replay", "p/testdata/a.txt"}, {"differential", "p/testdata/b.txt"}}},
			"S002": {why: "needs a | kubelet"},
		})
	want := preamble + `**Covered: 1 of 3.** 1 wait for something that is not simulated; 1 are open.

**On a real control plane: 1 of 3.**

## One

1 of 2 covered.

- S001: a|b. [differential](../../p/testdata/b.txt); [replay](../../p/testdata/a.txt); [simulation, TestZ](../../p/z_test.go).
- S002: c. *not real*: needs a | kubelet; *not simulated*: no kubelet.

## Two

0 of 1 covered.

- S003: d. *not simulated*: open.
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLedger(t *testing.T) {
	table := []behaviour{{id: "S001"}, {id: "S002"}}
	truth, err := parseLedger("# Why.\n\nS001 replay a.txt\nS001 differential b.txt\nS002 not: needs a kubelet\n", table)
	if err != nil {
		t.Fatal(err)
	}
	if len(truth["S001"].by) != 2 || truth["S002"].why != "needs a kubelet" {
		t.Errorf("read %v", truth)
	}
	for _, c := range []struct{ name, text, want string }{
		{"missing", "S001 replay a.txt\n", "nothing is said of S002"},
		{"unknown", "S001 not: x\nS002 not: x\nS003 not: x\n", "S003 is not in scenarios.tsv"},
		{"both", "S001 not: x\nS001 replay a.txt\nS002 not: x\n", "real.txt:2: S001 was shown and was not"},
		{"no file", "S001 replay\n", "real.txt:1: want a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := parseLedger(c.text, table); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
