package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

const twoFunctions = `package p

func (t *T[K]) f(a, b int, s string) (bool, error) {
	for range a {
		if a < b && !g(s) {
			continue
		}
		s = "x" + s
	}
	switch {
	case a == b, b == 3:
		return true, nil
	}
	switch a {
	case 1, 2:
		t.use(T[int]{x: 1, y: 2})
	}
	return false, nil
}

func h() { println("h") }
`

func TestMutations(t *testing.T) {
	s, err := parse("p.go", twoFunctions)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range s.functions[0].mutations {
		mutated := strings.Split(s.mutated(s.functions[0], m.edits), "\n")
		for i, line := range strings.Split(s.mutated(s.functions[0], nil), "\n") {
			if i >= len(mutated) || mutated[i] != line {
				got = append(got, fmt.Sprintf("%s: %s", m, strings.TrimSpace(mutated[i])))
				break
			}
		}
	}
	want := `if 1 never: if false && (a < b && !g(s)) {
if 1 always: if true || (a < b && !g(s)) {
< 1 <=: if a <= b && !g(s) {
&& 1 left: if a < b && (true || (!g(s))) {
&& 1 right: if (true || (a < b)) && !g(s) {
! 1 removed: if a < b && g(s) {
continue 1 break: break
stmt 1 removed: if false { s = "x" + s }
+ 1 -: s = "x" - s
case 1 never: case false && (a == b), false && (b == 3):
case 1 always: case true || (a == b), true || (b == 3):
== 1 !=: case a != b, b == 3:
== 2 !=: case a == b, b != 3:
return 1 zero: if true { return *new(bool), *new(error) }; return true, nil
true 1 false: return false, nil
case 2 never: 
elem 1 removed: case 2:
elem 2 removed: case 1:
stmt 2 removed: if false { t.use(T[int]{x: 1, y: 2}) }
elem 3 removed: t.use(T[int]{y: 2})
elem 4 removed: t.use(T[int]{x: 1})
return 2 zero: if true { return *new(bool), *new(error) }; return false, nil
false 1 true: return true, nil`
	if s := strings.Join(got, "\n"); s != want {
		t.Errorf("mutations\n%s\nwant\n%s", s, want)
	}
}

func TestWeave(t *testing.T) {
	s, err := parse("p.go", twoFunctions)
	if err != nil {
		t.Fatal(err)
	}
	list, err := parseList("S001 p.T.f < 1 <=: too many\nS002 p.h stmt 1 removed: silent")
	if err != nil {
		t.Fatal(err)
	}
	if err := resolve(list, map[string][]source{"internal/p": {s}}); err != nil {
		t.Fatal(err)
	}
	woven, err := parse("p.go", s.weave(list))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{
		{"if chosenMutant == 1 {\n//line change1:1\n", "if a <= b", "return false, nil\n\n}\n//line p.go:3\n", "if a < b"},
		{"if chosenMutant == 2 {\n//line change2:1\n", "if false {", "return\n}\n//line p.go:21\n", `println("h")`},
	} {
		body := woven.mutated(woven.functions[i], nil)
		for _, part := range want {
			_, rest, found := strings.Cut(body, part)
			if !found {
				t.Fatalf("no %q, or too early, in\n%s", part, body)
			}
			body = rest
		}
	}
}

func TestListRefuses(t *testing.T) {
	s, err := parse("p.go", twoFunctions)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"S001 p.h stmt 1 removed", "line 1: want RULE PACKAGE.FUNCTION KIND N CHANGE: WHY"},
		{"S001 p.h stmt removed: why", "line 1: want RULE"},
		{"S001 p.h stmt one removed: why", "line 1: strconv.Atoi"},
		{"S001 p.g stmt 1 removed: why", "line 1: S001 p.g stmt 1 removed: why: there is no such function"},
		{"S001 p.h stmt 2 removed: why", "line 1: S001 p.h stmt 2 removed: why: the function has no stmt 2 removed"},
	} {
		list, err := parseList(c.line)
		if err == nil {
			err = resolve(list, map[string][]source{"internal/p": {s}})
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %s", c.line, err, c.want)
		}
	}
}

func TestSpread(t *testing.T) {
	all := make([]change, 10)
	for i := range all {
		all[i].number = i
	}
	for limit, want := range map[int]string{0: "0 1 2 3 4 5 6 7 8 9", 20: "0 1 2 3 4 5 6 7 8 9", 3: "0 3 6"} {
		var numbers []string
		for _, c := range spread(all, limit) {
			numbers = append(numbers, fmt.Sprint(c.number))
		}
		if got := strings.Join(numbers, " "); got != want {
			t.Errorf("spread %d: %s, want %s", limit, got, want)
		}
	}
}

func TestFailed(t *testing.T) {
	for _, c := range []struct{ out, want string }{
		{"--- FAIL: TestScenarios (0.01s)\n    --- FAIL: TestScenarios/s1 (0.00s)\n", "s1"},
		{"    --- FAIL: TestScenarios/s1 (0.00s)\n    --- FAIL: TestScenarios/s2 (0.00s)\n", "s1 and 1 more"},
		{"--- FAIL: TestOther (0.01s)\n", "TestOther"},
		{"panic: test timed out after 1m0s\n\trunning tests:\n\t\tTestScenarios (1s)\n\t\tTestScenarios/s3 (1s)\n", "TestScenarios/s3, which does not end"},
		{"out of memory\n", "a crash"},
	} {
		if got := failed(c.out); got != c.want {
			t.Errorf("%q: %q, want %q", c.out, got, c.want)
		}
	}
}

// TestCommittedList: each change of the list that `make mutate` tries is in the
// code, once, and names what it breaks.
func TestCommittedList(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile("hack/mutate/list.txt")
	if err != nil {
		t.Fatal(err)
	}
	list, err := parseList(string(text))
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string][]source{}
	for _, pkg := range []string{"internal/engine", "internal/apisim"} {
		if packages[pkg], err = read(pkg); err != nil {
			t.Fatal(err)
		}
	}
	if err := resolve(list, packages); err != nil {
		t.Error(err)
	}
	rule := regexp.MustCompile(`^(S\d{3}|Q\d+|§\d+(\.\d+)*)(,(S\d{3}|Q\d+))*$`)
	seen := map[string]bool{}
	for _, c := range list {
		if !rule.MatchString(c.rule) {
			t.Errorf("line %d: %q is no rule", c.number, c.rule)
		}
		same := fmt.Sprint(c.pkg, c.function, c.operation)
		if seen[same] {
			t.Errorf("line %d: %s is in the list twice", c.number, same)
		}
		seen[same] = true
	}
}
