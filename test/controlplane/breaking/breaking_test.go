package breaking

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// judge returns the error of something that works before the delete and not after it.
type judge func(ctx context.Context, namespace string) error

func namespace(n int) string { return fmt.Sprintf("breaking-%d", n) }

func TestSituations(t *testing.T) {
	if err := controllers(); err != nil {
		t.Fatal(err)
	}
	r := newReader(t)
	for n, s := range situations {
		t.Run(s.name, func(t *testing.T) { s.run(t, r, namespace(n)) })
	}
	if len(r.values) > 0 {
		t.Errorf("values of Secrets and ConfigMaps were read: %q", r.values)
	}
	if len(r.metadata) == 0 || len(r.whole) > 0 {
		t.Errorf("Secrets were read as metadata by %d requests, whole by %q", len(r.metadata), r.whole)
	}
}

func (s *situation) run(t *testing.T, r *reader, ns string) {
	kubectl := func(input string, args ...string) {
		t.Helper()
		if _, err := stage.Kubectl(context.WithoutCancel(t.Context()), []byte(input), args...); err != nil {
			t.Fatal(err)
		}
	}
	kubectl("", "create", "namespace", ns)
	cluster.Until(t, "the ServiceAccount default", func() bool {
		_, err := stage.Do(t.Context(), "GET", "/api/v1/namespaces/"+ns+"/serviceaccounts/default", "", nil)
		return err == nil
	})
	objects, target := fill(s.objects, ns), fill(s.target, ns)
	t.Cleanup(func() { kubectl(objects, "delete", "-n", ns, "--ignore-not-found", "--wait=false", "-f", "-") })
	kubectl(objects, "create", "-n", ns, "-f", "-")
	if s.prepare != nil {
		s.prepare(t, ns)
	}
	if s.judge != nil {
		var refusal error
		cluster.Until(t, "it works", func() bool {
			refusal = s.judge(t.Context(), ns)
			return refusal == nil
		})
	}
	if got := predicted(t, r, target, ns); got != s.broken {
		t.Errorf("predicted\n%s\nwant\n%s", got, s.broken)
	}
	kubectl("", "delete", target, "-n", ns, "--wait=false")
	for line := range strings.Lines(s.broken) {
		if words := strings.Fields(line); strings.HasSuffix(target, "/"+words[2]) && !slices.Contains(called, words[1]) {
			cluster.Until(t, "check names the reference of "+line, func() bool { return dangling(t, r, ns, words[0], words[1], words[2]) })
		}
	}
	if s.judge == nil {
		return
	}
	if s.broken == "" {
		if err := s.judge(t.Context(), ns); err != nil {
			t.Error(err)
		}
		return
	}
	var refusal error
	cluster.Until(t, "it no longer works", func() bool {
		refusal = s.judge(t.Context(), ns)
		return refusal != nil
	})
	t.Logf("predicted: %s\nthen: %.300v", s.broken, refusal)
}

// called are the labels of what is no reference of a field that names an object.
var called = []string{"hook.example.com", "service", "conversion", "subjects"}

// dangling reports whether check finds the reference from an object, of the namespace or cluster-scoped.
func dangling(t *testing.T, r *reader, ns, from, label, to string) bool {
	t.Helper()
	var d report.Diagnosis
	if err := json.Unmarshal(r.program(t, "check", "--references", "-o", "json"), &d); err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(d.Findings, func(f report.Finding) bool {
		return f.Code == string(reason.ReferenceNotFound) && f.Object.Name == from && (f.Object.Namespace == "" || f.Object.Namespace == ns) &&
			f.Reference.Name == to && strings.Contains(f.Message, "("+label+")")
	})
}

// predicted returns what a dry run says breaks, one line for each.
func predicted(t *testing.T, r *reader, target, ns string, more ...string) string {
	t.Helper()
	var p report.Plan
	if err := json.Unmarshal(r.program(t, append([]string{"dry-run", "delete", target, "-n", ns, "-o", "json"}, more...)...), &p); err != nil {
		t.Fatal(err)
	}
	if len(p.UnreadReferrers) > 0 {
		t.Errorf("not read: %+v", p.UnreadReferrers)
	}
	var lines []string
	for _, b := range p.Broken {
		line := []string{b.Object.Name, b.Label, b.Reference.Name, string(b.When)}
		if b.Certainty != report.Sure {
			line = append(line, string(b.Certainty))
		}
		lines = append(lines, strings.Join(line, " "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
