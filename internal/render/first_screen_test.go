package render

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// manyFindings returns findings with so many causes and with the longest texts.
func manyFindings(causes int) []report.Finding {
	long := strings.Repeat("a long word ", 40)
	var list []report.Finding
	for i := range causes {
		for j := range 4 {
			r := report.Ref{APIVersion: "example.com/v1", Kind: "Widget", Namespace: "shop", Name: fmt.Sprintf("%s-%d-%d", strings.Repeat("name", 40), i, j)}
			list = append(list, report.Finding{
				Code: string(reason.FinalizerControllerGone), Severity: reason.Error, Object: r, Message: long, Finalizer: fmt.Sprintf("example.com/hold-%d", i),
				Chain: []report.WaitLink{{Ref: r, Waits: string(reason.FinalizerControllerGone)}}, ForSeconds: new(90000),
				Proof: []report.Proof{{Reason: string(reason.WrittenBy), Message: long}, {Reason: string(reason.ScaledToZero), Message: long + "!"}},
				Remedies: []report.Remedy{
					{Command: "kubectl logs pod/x", Effect: long}, {Command: "kubectl gc remove-finalizer " + r.KubectlName(), Effect: long, Cost: long},
				},
			})
		}
	}
	return list
}

// TestFirstScreen: the output of stuck and explain fits on a screen, whatever is found. Only
// commands may be wider, each on a line of its own.
func TestFirstScreen(t *testing.T) {
	for _, causes := range []int{1, 2, 3, 4, 5, 12, 60} {
		findings := manyFindings(causes)
		gaps := []report.Gap{{APIVersion: "v1", Resource: "pods", Matters: true}, {APIVersion: "v1", Resource: "secrets", Matters: true}}
		d := &report.Diagnosis{Findings: findings, Gaps: gaps}
		e := &report.Explanation{
			Object: findings[0].Object, Verdict: report.HeldByFinalizer, Message: strings.Repeat("very ", 100) + "long", WaitsFor: findings, Gaps: gaps,
			Events: []report.EventFinding{{Type: "Warning", Reason: "Failed", Message: strings.Repeat("again ", 100)}},
		}
		for i := range 80 {
			e.Dependents = append(e.Dependents, report.DependentFinding{Ref: findings[i%len(findings)].Object})
			e.TakenBy = append(e.TakenBy, report.Taker{Object: report.Ref{APIVersion: "v1", Kind: "Pod", Name: fmt.Sprintf("taker-%d", i)}, Policy: "Background"})
		}
		for _, columns := range []int{0, 80, 200} {
			for name, write := range map[string]func(io.Writer) error{
				"stuck":   func(w io.Writer) error { return StuckText(w, Style{Width: columns}, d) },
				"explain": func(w io.Writer) error { return ExplanationText(w, Style{Width: columns}, e) },
			} {
				var b strings.Builder
				if err := write(&b); err != nil {
					t.Fatal(err)
				}
				lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
				if len(lines) > screenLines {
					t.Errorf("%s of %d causes in %d columns: %d lines\n%s", name, causes, columns, len(lines), b.String())
				}
				whole := 0
				for _, line := range lines {
					if text := strings.TrimLeft(line, " "); strings.HasPrefix(text, "kubectl ") {
						for i := range findings {
							for _, r := range findings[i].Remedies {
								if text == r.Command {
									whole++
								}
							}
						}
					} else if width(line) > screenWidth {
						t.Errorf("%s in %d columns: %q", name, columns, line)
					}
				}
				if whole == 0 {
					t.Errorf("%s of %d causes in %d columns has no whole command:\n%s", name, causes, columns, b.String())
				}
			}
		}
	}
}
