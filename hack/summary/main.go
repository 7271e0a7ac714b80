// Command summary reads the stream of `go test -json` and prints what `go test`
// would have printed, with the output of passing tests left out, and a last
// line that counts what was executed. Before it stands what tests have said that
// could not run on this machine. It exits with an error when something failed, or
// when nothing ran at all: an empty run is no success.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// event is one line of the stream. See `go doc test2json`.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// counts is what the last line says.
type counts struct {
	packages, passed, failed, skipped, broken int
	// notRun are the lines of tests that a machine without some program cannot run.
	notRun []string
}

// notRun begins such a line; see test/programs.
const notRun = "NOT RUN: "

func main() {
	start := time.Now()
	c, err := summarize(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		os.Exit(1)
	}
	fmt.Println(c.line(time.Since(start)))
	if !c.ok() {
		os.Exit(1)
	}
}

// ok reports whether the run may count as a success.
func (c counts) ok() bool { return c.failed == 0 && c.broken == 0 && c.passed > 0 }

// line is the verdict in words.
func (c counts) line(took time.Duration) string {
	verdict := "PASS"
	if !c.ok() {
		verdict = "FAIL"
	}
	return fmt.Sprintf("%s%d packages, %d broken, %.0fs\n%s: %d passed, %d failed, %d skipped",
		strings.Join(c.notRun, ""), c.packages, c.broken, took.Seconds(), verdict, c.passed, c.failed, c.skipped)
}

// summarize copies what matters from r to w and counts.
func summarize(r io.Reader, w io.Writer) (counts, error) {
	var c counts
	pending := map[string][]string{} // output of a test until its verdict is known
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Fprintln(w, lines.Text()) // not of the stream: pass it on
			continue
		}
		key := e.Package + "\x00" + e.Test
		switch e.Action {
		case "output", "build-output":
			switch {
			case strings.HasPrefix(e.Output, notRun):
				c.notRun = append(c.notRun, strings.TrimSuffix(e.Output, "\n")+"\n")
			case e.Test == "":
				fmt.Fprint(w, packageLine(e.Output))
			default:
				pending[key] = append(pending[key], e.Output)
			}
		case "pass", "skip":
			delete(pending, key)
			c.count(e)
		case "fail":
			fmt.Fprint(w, strings.Join(pending[key], ""))
			delete(pending, key)
			if e.Test == "" {
				unfinished(w, pending, key)
			}
			c.count(e)
		}
	}
	return c, lines.Err()
}

// unfinished prints what tests of a package have said that never came to their end:
// it timed out, or its process died.
func unfinished(w io.Writer, pending map[string][]string, pkg string) {
	for _, key := range slices.Sorted(maps.Keys(pending)) {
		if strings.HasPrefix(key, pkg) {
			fmt.Fprint(w, strings.Join(pending[key], ""))
			delete(pending, key)
		}
	}
}

// packageLine drops the bare verdict that precedes each package's own line.
func packageLine(s string) string {
	if s == "PASS\n" {
		return ""
	}
	return s
}

// count books one verdict.
func (c *counts) count(e event) {
	switch {
	case e.Test == "" && e.Action == "pass":
		c.packages++
	case e.Test == "" && e.Action == "fail":
		c.packages++
		c.broken++
	case e.Test == "":
		// A package without tests.
	case e.Action == "pass":
		c.passed++
	case e.Action == "fail":
		c.failed++
	default:
		c.skipped++
	}
}
