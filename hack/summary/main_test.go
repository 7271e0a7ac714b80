package main

import (
	"strings"
	"testing"
)

func TestSummarize(t *testing.T) {
	const pass = `{"Action":"output","Package":"p","Test":"TestA","Output":"quiet\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}
`
	for _, c := range []struct {
		name, in, out, last string
		ok                  bool
	}{
		{"pass", pass, "ok  \tp\t0.1s\n", "1 packages, 0 broken, 0s\nPASS: 1 passed, 0 failed, 0 skipped", true},
		{
			"what could not run is said last",
			`{"Action":"output","Package":"q","Output":"NOT RUN: the browser tests: there is no chromium on this machine\n"}
{"Action":"pass","Package":"q"}
` + pass,
			"ok  \tp\t0.1s\n",
			"NOT RUN: the browser tests: there is no chromium on this machine\n2 packages, 0 broken, 0s\nPASS: 1 passed, 0 failed, 0 skipped", true,
		},
		{"nothing ran", "", "", "0 packages, 0 broken, 0s\nFAIL: 0 passed, 0 failed, 0 skipped", false},
		{
			"a failure shows its output",
			pass + `{"Action":"output","Package":"q","Test":"TestB","Output":"want 1\n"}
{"Action":"fail","Package":"q","Test":"TestB"}
{"Action":"fail","Package":"q"}
`,
			"ok  \tp\t0.1s\nwant 1\n",
			"2 packages, 1 broken, 0s\nFAIL: 1 passed, 1 failed, 0 skipped", false,
		},
		{
			"a test that never ended shows its output",
			pass + `{"Action":"output","Package":"q","Test":"TestC","Output":"panic: timed out\n"}
{"Action":"fail","Package":"q"}
`,
			"ok  \tp\t0.1s\npanic: timed out\n",
			"2 packages, 1 broken, 0s\nFAIL: 1 passed, 0 failed, 0 skipped", false,
		},
		{
			"a package that does not build is a failure",
			pass + `{"Action":"build-output","ImportPath":"q","Output":"syntax error\n"}
{"Action":"build-fail","ImportPath":"q"}
{"Action":"fail","Package":"q","FailedBuild":"q"}
`,
			"ok  \tp\t0.1s\nsyntax error\n",
			"2 packages, 1 broken, 0s\nFAIL: 1 passed, 0 failed, 0 skipped", false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			got, err := summarize(strings.NewReader(c.in), &out)
			if err != nil {
				t.Fatal(err)
			}
			if out.String() != c.out {
				t.Errorf("printed %q, want %q", out.String(), c.out)
			}
			if line := got.line(0); line != c.last || got.ok() != c.ok {
				t.Errorf("%q (ok %v), want %q (ok %v)", line, got.ok(), c.last, c.ok)
			}
		})
	}
}
