package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const goodList = `# a list

file p.go

S001 the sum is too small
- return a + b
+ return a
Q2 two lines become none
- a++
- b++

file q.go
S003 another file
  -  x()
  + 	y()
  +
`

func TestParsePicked(t *testing.T) {
	list, err := parsePicked(goodList)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range list {
		got = append(got, fmt.Sprintf("%s:%d %q %q %q", p.file, p.at, p.why, p.before, p.after))
	}
	want := []string{
		`p.go:5 "S001 the sum is too small" ["return a + b"] ["return a"]`,
		`p.go:8 "Q2 two lines become none" ["a++" "b++"] []`,
		`q.go:13 "S003 another file" ["x()"] ["y()" ""]`,
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("list\n%s\nwant\n%s", g, w)
	}
}

func TestParsePickedRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no file", "S001 why\n- a", "line 1: no file above"},
		{"no rule", "file p.go\n- a", "line 2: no rule and reason above"},
		{"rule of another file", "file p.go\nS001 why\n- a\nfile q.go\n+ b", "line 5: no rule and reason above"},
		{"rule without a reason", "file p.go\nS001", `line 2: "S001" is not a rule and a reason`},
		{"nothing to replace", "file p.go\nS001 why\n+ b", `line 2: "S001 why" changes no line`},
		{"empty line to replace", "file p.go\nS001 why\n-\n+ b", "line 3: an empty line names no place"},
		{"two places", "file p.go\nS001 why\n- a\n+ b\n- c", "line 5: a line to replace after a replacement"},
	} {
		_, err := parsePicked(c.text)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
}

func TestApply(t *testing.T) {
	const text = "a\n\tb\nc\na\n\tx\n"
	for _, c := range []struct {
		before, after []string
		want, err     string
	}{
		{before: []string{"b"}, after: []string{"B", "B"}, want: "a\nB\nB\nc\na\n\tx\n"},
		{before: []string{"a", "x"}, want: "a\n\tb\nc\n"},
		{before: []string{"a"}, err: `"a" stands in p.go 2 times, not once`},
		{before: []string{"d"}, err: `"d" stands in p.go 0 times, not once`},
		{before: []string{"", "z"}, err: `"\nz" stands in p.go 0 times, not once`},
	} {
		got, err := picked{file: "p.go", before: c.before, after: c.after}.apply(text)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%q: %q, %v; want %q, %s", c.before, got, err, c.want, c.err)
		}
	}
}

const threeFunctions = `package p

var limit = 3

func (t *T) f(a int) int {
	if a > 3 {
		return a
	}
	return 0
}

func g() {
	println("g")
}

func h() { println("h") }
`

func TestWeave(t *testing.T) {
	woven, err := weave([]picked{
		{at: 7, file: "p.go", before: []string{"if a > 3 {"}, after: []string{"if a >= 3 {"}},
		{at: 9, file: "p.go", before: []string{`println("g")`}},
		{at: 12, file: "p.go", before: []string{"return 0"}, after: []string{"return 1"}},
	}, []int{4, 5, 9}, "p.go", threeFunctions, "list.txt")
	if err != nil {
		t.Fatal(err)
	}
	functions, err := functionsOf("p.go", woven)
	if err != nil {
		t.Fatalf("%v in\n%s", err, woven)
	}
	want := [][]string{
		{"if chosenMutant == 4 {\n//line list.txt:7\n", "if a >= 3 {", "if chosenMutant == 9 {\n//line list.txt:12\n", "return 1", "//line p.go:5\n", "if a > 3 {", "return 0"},
		{"if chosenMutant == 5 {\n//line list.txt:9\n", "return\n}\n//line p.go:12\n", `println("g")`},
		{`println("h")`},
	}
	if len(functions) != len(want) {
		t.Fatalf("%d functions in\n%s", len(functions), woven)
	}
	for i, f := range functions {
		rest := f.body
		for _, part := range want[i] {
			_, after, found := strings.Cut(rest, part)
			if !found {
				t.Fatalf("function %d lacks %q, or has it too early:\n%s", i, part, f.body)
			}
			rest = after
		}
	}
	if strings.Contains(functions[2].body, "chosenMutant") {
		t.Errorf("the last function is not one to change:\n%s", functions[2].body)
	}
}

func TestWeaveRefuses(t *testing.T) {
	for _, c := range []struct {
		p    picked
		want string
	}{
		{picked{at: 1, before: []string{"var limit = 3"}, after: []string{"var limit = 4"}}, "line 1: why: no function is changed"},
		{picked{at: 2, before: []string{"func g() {"}, after: []string{"func g(int) {"}}, `line 2: why: the signature "func g() " is changed`},
		{picked{at: 3, before: []string{`println("g")`, "}", "", `func h() { println("h") }`}, after: []string{"}", "func h() {}"}}, "line 3: why: two functions are changed"},
		{picked{at: 4, before: []string{`func h() { println("h") }`}}, "line 4: why: 3 functions became 2"},
		{picked{at: 5, before: []string{"return 7"}}, `line 5: why: "return 7" stands in p.go 0 times, not once`},
		{picked{at: 6, before: []string{"return 0"}, after: []string{"return ("}}, "line 6: why: p.go:"},
	} {
		c.p.file, c.p.why = "p.go", "why"
		_, err := weave([]picked{c.p}, []int{1}, "p.go", threeFunctions, "list.txt")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

func TestFailed(t *testing.T) {
	for _, c := range []struct{ out, want string }{
		{"--- FAIL: TestScenarios (0.01s)\n    --- FAIL: TestScenarios/s1 (0.00s)\n", "s1"},
		{"    --- FAIL: TestScenarios/s1 (0.00s)\n    --- FAIL: TestScenarios/s2 (0.00s)\n", "s1 and 1 more"},
		{"panic: test timed out after 1m0s\n\trunning tests:\n\t\tTestScenarios (1s)\n\t\tTestScenarios/s3 (1s)\n", "s3, which does not end"},
		{"out of memory\n", ""},
	} {
		if got := failed(c.out); got != c.want {
			t.Errorf("%q: %q, want %q", c.out, got, c.want)
		}
	}
}

// TestCommittedList reads the list that `make mutate` tries: each change breaks
// a numbered scenario, a quirk or a section of the semantics, or weakens what the account
// of a run is for; and each fits the code as it is.
func TestCommittedList(t *testing.T) {
	text, err := os.ReadFile("picked.txt")
	if err != nil {
		t.Fatal(err)
	}
	list, err := parsePicked(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 40 {
		t.Errorf("only %d changes", len(list))
	}
	rule := regexp.MustCompile(`^(S\d{3}|Q\d+|§\d+(\.\d+)*|(account|digest|limits|backup|drift):) `)
	seen := map[string]int{}
	for _, p := range list {
		if !rule.MatchString(p.why) {
			t.Errorf("line %d: %q begins with no rule", p.at, p.why)
		}
		change := fmt.Sprintf("%s %q %q", p.file, p.before, p.after)
		if first, ok := seen[change]; ok {
			t.Errorf("line %d: the change of line %d again", p.at, first)
		}
		seen[change] = p.at
		if source, err := os.ReadFile(filepath.Join("..", "..", p.file)); err != nil {
			t.Errorf("line %d: %v", p.at, err)
		} else if _, err := p.apply(string(source)); err != nil {
			t.Errorf("line %d: %s: %v", p.at, p.why, err)
		}
	}
}
