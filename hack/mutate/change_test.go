package main

import (
	"fmt"
	"strings"
	"testing"
)

const original = `package p

func f(a, b int, s string) bool {
	for range a {
		if a < b && !g(s) {
			continue
		}
		s = "x" + s + s
	}
	return a == b+1 || true
}
`

func TestChangesOf(t *testing.T) {
	changes, err := changesOf("p.go", []byte(original))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range changes {
		got = append(got, fmt.Sprintf("%d %s→%s", c.line, c.before, c.after))
		if string(c.text) == original {
			t.Errorf("line %d: nothing changed", c.line)
		}
		if want := len(original) - len(c.before) + len(c.after); len(c.text) != want {
			t.Errorf("line %d: %d bytes, want %d", c.line, len(c.text), want)
		}
	}
	want := "5 &&→||, 5 <→<=, 5 !→, 6 continue→break, 10 ||→&&, 10 ==→!=, 10 +→-, 10 true→false"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("changes\n%s\nwant\n%s", s, want)
	}
}

func TestSpread(t *testing.T) {
	all := make([]change, 10)
	for i := range all {
		all[i].line = i
	}
	for _, c := range []struct {
		limit int
		want  string
	}{{0, "0 1 2 3 4 5 6 7 8 9"}, {20, "0 1 2 3 4 5 6 7 8 9"}, {3, "0 3 6"}} {
		var lines []string
		for _, x := range spread(all, c.limit) {
			lines = append(lines, fmt.Sprint(x.line))
		}
		if got := strings.Join(lines, " "); got != c.want {
			t.Errorf("spread %d: %s, want %s", c.limit, got, c.want)
		}
	}
}
