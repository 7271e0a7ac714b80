package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// manyFindings returns findings with so many causes and with the longest texts.
func manyFindings(causes int) []report.Finding {
	long := strings.Repeat("a long word ", 40)
	var list []report.Finding
	for i := range causes {
		for j := range 4 {
			r := object.Ref{APIVersion: "example.com/v1", Kind: "Widget", Namespace: "shop", Name: fmt.Sprintf("%s-%d-%d", strings.Repeat("name", 40), i, j)}
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
			e.TakenBy = append(e.TakenBy, report.Taker{Object: object.Ref{APIVersion: "v1", Kind: "Pod", Name: fmt.Sprintf("taker-%d", i)}, Policy: "Background"})
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
				if len(lines) > maxScreenLines {
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
					} else if width(line) > maxScreenWidth {
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

func refOf(apiVersion, kind, namespace, name string) object.Ref {
	return object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
}

// TestCauses: however many findings there are, a common cause is printed once.
func TestCauses(t *testing.T) {
	var findings []report.Finding
	owner := refOf("example.com/v1", "Database", "shop", "orders")
	for i := range 816 {
		findings = append(findings, report.Finding{
			Code: string(reason.OwnerNotFound), Severity: reason.Error, Object: refOf("v1", "ConfigMap", "shop", "cm-"+strconv.Itoa(i)), Reference: &owner,
		})
	}
	for i := range 57 {
		findings = append(findings, report.Finding{
			Code: string(reason.SharedUID), Severity: reason.Error, Object: refOf("projectcalico.org/v3", "Profile", "", "kns.n"+strconv.Itoa(i)),
		})
	}
	for i := range 300 {
		kinds := []string{"Deployment", "StatefulSet"}
		r := refOf("apps/v1", kinds[i%2], "n"+strconv.Itoa(i%7), "gone-"+strconv.Itoa(i))
		findings = append(findings, report.Finding{
			Code: string(reason.OwnerUIDMismatch), Severity: reason.Error, Object: refOf("v1", "Pod", r.Namespace, "p-"+strconv.Itoa(i)), Reference: &r,
		})
	}
	d := &report.Diagnosis{
		Source: report.Source{Type: "cluster"}, Complete: true,
		Summary: report.FindingSummary{Objects: 2500, References: 2000, Errors: len(findings)}, Findings: findings,
	}
	got := assertRendered(t, Style{}, func(w io.Writer) error { return DiagnosisTable(w, Style{}, d) })
	want := `1173 errors in 2000 owner references of 2500 objects: 4 causes

ERROR    Owner does not exist: database.example.com/orders
         816 ConfigMaps in namespace shop (cm/cm-0, cm/cm-1, cm/cm-10, …)
         It is deleted as garbage unless it has another owner. To keep it, remove the reference.
ERROR    Owner has another UID, as after a restore: 150 Deployments
         150 Pods in 7 namespaces (pod/p-0 -n n0, pod/p-112 -n n0, pod/p-126 -n n0, …)
         It is deleted as garbage unless it has another owner. To keep it, remove the reference.
ERROR    Owner has another UID, as after a restore: 150 StatefulSets
         150 Pods in 7 namespaces (pod/p-105 -n n0, pod/p-119 -n n0, pod/p-133 -n n0, …)
         It is deleted as garbage unless it has another owner. To keep it, remove the reference.
ERROR    Same UID as another object: a known bug of Calico's API server
         57 Profiles (profile.projectcalico.org/kns.n0, profile.projectcalico.org/kns.n1, …)
         Update Calico (projectcalico/calico#5715), then restart kube-controller-manager.

Next: kubectl gc explain configmap cm-0 -n shop
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestEveryCodeHasWords: every code has a title and advice.
func TestEveryCodeHasWords(t *testing.T) {
	for _, m := range reason.Check.Meanings {
		if w := wordsByCode[m.Code]; w.title == "" || w.advice == "" {
			t.Errorf("check: no words for %s", m.Code)
		}
	}
	for _, m := range reason.Doctor.Meanings {
		if _, ok := checkupTitles[m.Code]; ok == (m.Severity == reason.Info) {
			t.Errorf("doctor: %s, of severity %s, has a title: %t", m.Code, m.Severity, ok)
		}
	}
}

// TestScreens: every answer fits on a screen of 25 lines of 100 columns.
func TestScreens(t *testing.T) {
	name := rapid.StringMatching(`[a-z]([a-z0-9-]{0,50}[a-z0-9])?`)
	kind := rapid.SampledFrom([][2]string{{"v1", "Pod"}, {"v1", "PersistentVolumeClaim"}, {"apps/v1", "Deployment"}, {"networking.k8s.io/v1", "NetworkPolicy"}, {"databases.example.com/v1", "PostgresCluster"}})
	ref := rapid.Custom(func(t *rapid.T) object.Ref {
		k := kind.Draw(t, "kind")
		return refOf(k[0], k[1], rapid.SampledFrom([]string{"", "shop", "a-namespace-with-a-longer-name"}).Draw(t, "namespace"), name.Draw(t, "name"))
	})
	finding := func(f *reason.Family) *rapid.Generator[report.Finding] {
		return rapid.Custom(func(t *rapid.T) report.Finding {
			m := rapid.SampledFrom(f.Meanings).Draw(t, "code")
			owner := ref.Draw(t, "owner")
			message := rapid.SampledFrom([]string{"it is so", "its owner database.example.com/orders is absent"}).Draw(t, "message")
			return report.Finding{Code: string(m.Code), Severity: m.Severity, Object: ref.Draw(t, "object"), Reference: &owner, Message: message, Remedy: m.Sentence()}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		s := Style{Width: rapid.SampledFrom([]int{0, 80, 100, 200}).Draw(t, "width")}
		diagnosis := &report.Diagnosis{Complete: true, Findings: rapid.SliceOfN(finding(reason.Check), 0, 60).Draw(t, "check")}
		checkup := &report.Checkup{Verdict: report.CollectorUnknown, Complete: true, Findings: rapid.SliceOfN(finding(reason.Doctor), 0, 60).Draw(t, "doctor")}
		risk := &report.Risk{Complete: true}
		for range rapid.IntRange(0, 10).Draw(t, "risks") {
			k := kind.Draw(t, "of")
			risk.Items = append(risk.Items, report.RiskItem{Object: ref.Draw(t, "risk"), ByKind: []report.KindCount{{APIVersion: k[0], Kind: k[1], Count: 1}}})
		}
		for what, show := range map[string]func(io.Writer) error{
			"check":  func(w io.Writer) error { return DiagnosisTable(w, s, diagnosis) },
			"doctor": func(w io.Writer) error { return CheckupText(w, s, checkup) },
			"risk":   func(w io.Writer) error { return RiskTable(w, s, risk) },
		} {
			var b strings.Builder
			if err := show(&b); err != nil {
				t.Fatal(err)
			}
			limited := s
			limited.Width = min(max(s.Width, 80), maxScreenWidth)
			if s.Width == 0 {
				limited.Width = maxScreenWidth
			}
			assertPresentable(t, limited, b.String())
			if n := strings.Count(b.String(), "\n"); n > maxScreenLines {
				t.Fatalf("%s takes %d lines:\n%s", what, n, b.String())
			}
		}
	})
}
