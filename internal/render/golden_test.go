package render

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestGolden runs testdata/golden: a document is loaded with its kind as the command, then printed
// in formats and styles. `go test -rewrite` updates the files; escape characters are written as ␛.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		var doc runtime.Object
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if loaded := documentOf(d.Cmd); loaded != nil {
				if err := yaml.UnmarshalStrict([]byte(d.Input), loaded); err != nil {
					t.Fatalf("%s: %v", d.Pos, err)
				}
				loaded.GetObjectKind().SetGroupVersionKind(report.GroupVersion.WithKind(d.Cmd))
				doc = loaded
				return ""
			}
			if d.Cmd == "print" {
				return printed(t, d.CmdArgs[0].Key+joined(d.CmdArgs[0].Vals), doc)
			}
			return shown(t, d, doc)
		})
	})
}

func joined(vals []string) string {
	if len(vals) == 0 {
		return ""
	}
	return "=" + strings.Join(vals, ",")
}

func documentOf(kind string) runtime.Object {
	switch kind {
	case "Plan":
		return &report.Plan{}
	case "Explanation":
		return &report.Explanation{}
	case "Diagnosis":
		return &report.Diagnosis{}
	case "Graph":
		return &report.Graph{}
	case "Run":
		return &report.Run{}
	case "Risk":
		return &report.Risk{}
	case "Checkup":
		return &report.Checkup{}
	}
	return nil
}

func styleOf(t *testing.T, d *datadriven.TestData) Style {
	t.Helper()
	s := Style{Colour: d.HasArg("colour"), ASCII: d.HasArg("ascii"), Wide: d.HasArg("wide"), NoHeaders: d.HasArg("no-headers")}
	if d.HasArg("width") {
		d.ScanArgs(t, "width", &s.Width)
	}
	return s
}

// shown renders for people, and checks the properties that all goldens must have.
func shown(t *testing.T, d *datadriven.TestData, doc runtime.Object) string {
	t.Helper()
	assertJSON(t, d.Pos, doc)
	s := styleOf(t, d)
	out := renderAs(t, d.Cmd, s, doc)
	if again := renderAs(t, d.Cmd, s, doc); again != out {
		t.Errorf("%s: two runs differ", d.Pos)
	}
	if d.Cmd != "upstream" && d.Cmd != "dot" {
		assertPresentable(t, s, out)
	}
	return strings.ReplaceAll(out, "\x1b", "␛")
}

func renderAs(t *testing.T, command string, s Style, doc runtime.Object) string {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch command {
	case "table":
		switch doc := doc.(type) {
		case *report.Plan:
			err = PlanTable(&b, s, doc)
		case *report.Risk:
			err = RiskTable(&b, s, doc)
		default:
			err = DiagnosisTable(&b, s, doc.(*report.Diagnosis))
		}
	case "steps":
		err = PlanSteps(&b, s, doc.(*report.Plan))
	case "text":
		switch doc := doc.(type) {
		case *report.Run:
			err = RunText(&b, s, doc)
		case *report.Checkup:
			err = CheckupText(&b, s, doc)
		case *report.Lost:
			err = LostText(&b, s, doc)
		case *report.Diagnosis:
			err = StuckText(&b, s, doc)
		default:
			err = ExplanationText(&b, s, doc.(*report.Explanation))
		}
	case "tree":
		err = GraphTree(&b, s, Tree{Graph: doc.(*report.Graph)})
	case "dot":
		err = GraphDOT(&b, s, doc.(*report.Graph))
	case "upstream":
		err = UpstreamDOT(&b, s, doc.(*report.Graph))
	default:
		t.Fatalf("no such command: %s", command)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func printed(t *testing.T, format string, doc runtime.Object) string {
	t.Helper()
	p, ok, err := MachinePrinter(format, true)
	if err != nil {
		return "error: " + err.Error()
	}
	if !ok {
		return "not a machine format"
	}
	var b bytes.Buffer
	if err := p.PrintObj(doc, &b); err != nil {
		return "error: " + err.Error()
	}
	return b.String()
}

// assertPresentable checks all text output: no character that a terminal interprets, no line beyond
// the width except commands to paste, no trailing blanks, ASCII if requested.
func assertPresentable(t interface {
	Helper()
	Errorf(string, ...any)
}, s Style, out string) {
	t.Helper()
	if strings.Contains(out, noBreak) {
		t.Errorf("a command has spaces that cannot be pasted:\n%s", out)
	}
	if !utf8.ValidString(out) {
		t.Errorf("not UTF-8: %q", out)
	}
	for line := range strings.Lines(out) {
		if !strings.HasSuffix(line, "\n") {
			t.Errorf("the last line does not end: %q", line)
		}
		line = strings.TrimSuffix(line, "\n")
		if strings.TrimRight(line, " ") != line {
			t.Errorf("trailing blanks: %q", line)
		}
		command := strings.HasPrefix(strings.TrimLeft(line, " "), "kubectl ")
		if s.limit() > 0 && width(line) > s.limit() && !command {
			t.Errorf("%d columns wide, limit %d: %q", width(line), s.limit(), line)
		}
		if s.Colour {
			line = strings.NewReplacer("\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "", "\x1b[34m", "",
				"\x1b[35m", "", "\x1b[36m", "", "\x1b[1m", "", "\x1b[0m", "").Replace(line)
		}
		for _, r := range line {
			if !isVisible(r, s.ASCII) {
				t.Errorf("%q in %q", r, line)
			}
		}
	}
}

// TestWriteErrorsAreReturned: every renderer returns the error of a failing writer.
func TestWriteErrorsAreReturned(t *testing.T) {
	full := Style{}
	for name, render := range map[string]func(io.Writer) error{
		"plan table":  func(w io.Writer) error { return PlanTable(w, full, &report.Plan{}) },
		"plan steps":  func(w io.Writer) error { return PlanSteps(w, full, &report.Plan{}) },
		"explanation": func(w io.Writer) error { return ExplanationText(w, full, &report.Explanation{}) },
		"diagnosis":   func(w io.Writer) error { return DiagnosisTable(w, full, &report.Diagnosis{}) },
		"risk":        func(w io.Writer) error { return RiskTable(w, full, &report.Risk{}) },
		"checkup":     func(w io.Writer) error { return CheckupText(w, full, &report.Checkup{}) },
		"lost":        func(w io.Writer) error { return LostText(w, full, &report.Lost{}) },
		"tree":        func(w io.Writer) error { return GraphTree(w, full, Tree{Graph: &report.Graph{}}) },
		"dot":         func(w io.Writer) error { return GraphDOT(w, full, &report.Graph{}) },
		"run":         func(w io.Writer) error { return RunText(w, full, &report.Run{}) },
		"question":    func(w io.Writer) error { return ConfirmationText(w, full, &report.Confirmation{}) },
		"upstream":    func(w io.Writer) error { return UpstreamDOT(w, full, &report.Graph{}) },
	} {
		if err := render(closed{}); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: %v, want %v", name, err, io.ErrClosedPipe)
		}
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
