package stuck

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// answer is what the program says of a situation.
type answer struct {
	*report.Diagnosis
	code   int
	errOut string
	took   time.Duration
}

// run runs the program in this process.
func run(args ...string) (code int, out, errOut string) {
	var o, e bytes.Buffer
	streams := genericiooptions.IOStreams{In: bytes.NewReader(nil), Out: &o, ErrOut: &e}
	// With a flag, the commands of an answer would have it.
	if err := os.Setenv("KUBECONFIG", plane.Kubeconfig); err != nil {
		panic(err)
	}
	code = cli.Main(background, append([]string{"kubectl-gc"}, args...), streams)
	return code, o.String(), e.String()
}

// ask asks the program about a situation and judges the answer.
func (s *stage) ask(one *situation, managed bool) {
	s.Helper()
	s.alive(one, managed)
	if len(one.Ask) == 0 {
		return
	}
	args := append([]string{"stuck"}, one.Ask...)
	args = append(args, "-n", one.Name, "-o", "json")
	if one.As != "" {
		args = append(args, "--as", one.As)
	}
	began := time.Now()
	code, out, errOut := run(args...)
	a := &answer{code: code, errOut: errOut, took: time.Since(began), Diagnosis: &report.Diagnosis{}}
	one.answer = a
	if code != 0 && code != 3 {
		s.Errorf("%s: code %d: %s", one.Name, code, errOut)
		return
	}
	if err := json.Unmarshal([]byte(out), a.Diagnosis); err != nil {
		s.Errorf("%s: %v: %s", one.Name, err, out)
		return
	}
	var wrong []string
	for _, f := range one.Finds {
		if !slices.ContainsFunc(a.Findings, func(got report.Finding) bool { return f.fits(&got) }) {
			wrong = append(wrong, fmt.Sprintf("not found: %+v", f))
		}
	}
	if len(a.Findings) > len(one.Finds) {
		wrong = append(wrong, fmt.Sprintf("%d findings, want %d", len(a.Findings), len(one.Finds)))
	}
	if len(wrong) > 0 {
		s.Errorf("%s: %s\n%s", one.Name, strings.Join(wrong, "\n"), told(a))
	}
	s.explained(one)
}

// explained asks explain about the first object that is stuck: it says what stuck says.
func (s *stage) explained(one *situation) {
	s.Helper()
	if len(one.answer.Findings) == 0 {
		return
	}
	about := one.answer.Findings[0].Object
	args := []string{"explain", about.KubectlName(), "-o", "json"}
	if about.Namespace != "" {
		args = append(args, "-n", about.Namespace)
	}
	if one.As != "" {
		args = append(args, "--as", one.As)
	}
	var e report.Explanation
	code, out, errOut := run(args...)
	if err := json.Unmarshal([]byte(out), &e); err != nil || code != 0 {
		s.Errorf("%s: explain: code %d, %v: %s", one.Name, code, err, errOut)
		return
	}
	want, got := said(one.answer.Findings, about), said(e.WaitsFor, about)
	if want != got {
		s.Errorf("%s: explain says\n%sand stuck\n%s", one.Name, got, want)
	}
	for _, f := range e.WaitsFor {
		i := slices.IndexFunc(e.Finalizers, func(x report.FinalizerFinding) bool { return x.Name == f.Finalizer })
		if i >= 0 && len(f.Chain) == 1 && e.Finalizers[i].Verdict != f.Verdict {
			s.Errorf("%s: finalizer %s is %s, and the finding says %s", one.Name, f.Finalizer, e.Finalizers[i].Verdict, f.Verdict)
		}
	}
}

// said is what findings say of an object, but for what changes while somebody asks.
func said(findings []report.Finding, about object.Ref) string {
	var b strings.Builder
	for i := range findings {
		f := &findings[i]
		if f.Object != about {
			continue
		}
		fmt.Fprintf(&b, "   %s %s leaf=%s finalizer=%s verdict=%s\n", f.Severity, f.Code, leaf(f), f.Finalizer, f.Verdict)
		for _, p := range f.Proof {
			fmt.Fprintf(&b, "      proof %s\n", p.Reason)
		}
		for _, r := range f.Remedies {
			fmt.Fprintf(&b, "      fix %s | %s\n", r.Command, r.Cost)
		}
	}
	return b.String()
}

// told is what the program said, for a message.
func told(a *answer) string {
	var b strings.Builder
	for i := range a.Findings {
		f := &a.Findings[i]
		fmt.Fprintf(&b, "   %s %s %s leaf=%s finalizer=%s verdict=%s\n      %s\n", f.Severity, f.Code, short(f.Object), leaf(f), f.Finalizer, f.Verdict, f.Message)
		for _, p := range f.Proof {
			fmt.Fprintf(&b, "      proof %s: %s\n", p.Reason, p.Message)
		}
		for _, r := range f.Remedies {
			fmt.Fprintf(&b, "      fix %s | %s | %s\n", r.Command, r.Effect, r.Cost)
		}
	}
	return b.String() + a.errOut
}

func short(r object.Ref) string { return r.Kind + "/" + r.Name }

// leaf is what stands at the end of the chain.
func leaf(f *report.Finding) string {
	if len(f.Chain) == 0 {
		return ""
	}
	return short(f.Chain[len(f.Chain)-1].Ref)
}

// fits reports whether a finding is what was expected.
func (f *finding) fits(got *report.Finding) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	remedy := f.Remedy == "" || slices.ContainsFunc(got.Remedies, func(r report.Remedy) bool { return strings.Contains(r.Command, f.Remedy) })
	return is(f.Object, short(got.Object)) && is(f.Code, got.Code) && is(f.Severity, string(got.Severity)) &&
		is(f.Leaf, leaf(got)) && is(f.Finalizer, got.Finalizer) && is(f.Verdict, string(got.Verdict)) && remedy
}

// askAll asks about everything at once: nobody is called gone who was not when asked
// about alone, and nobody is forgotten.
func (s *stage) askAll(all []*situation) {
	s.Helper()
	began := time.Now()
	code, out, errOut := run("stuck", "-A", "-o", "json")
	var d report.Diagnosis
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != 3 {
		s.Fatalf("code %d, %v: %s", code, err, errOut)
	}
	s.Logf("all %d findings at once: %s", len(d.Findings), time.Since(began).Round(time.Millisecond))
	gone := func(findings []report.Finding, about string) (names []string) {
		for i := range findings {
			if f := &findings[i]; f.Verdict == report.FinalizerControllerGone && (f.Object.Namespace == about || f.Object.Name == about) {
				names = append(names, short(f.Object)+" "+f.Finalizer)
			}
		}
		return names
	}
	for _, one := range all {
		if one.answer == nil || one.As != "" {
			continue
		}
		for _, name := range gone(one.answer.Findings, one.Name) {
			if !slices.Contains(gone(d.Findings, one.Name), name) {
				s.Errorf("%s: of all, %s is not gone", one.Name, name)
			}
		}
		for _, f := range one.Finds {
			if f.Verdict != "" && f.Verdict != string(report.FinalizerControllerGone) && slices.Contains(gone(d.Findings, one.Name), f.Object+" "+f.Finalizer) {
				s.Errorf("%s: of all, %s is called gone", one.Name, f.Object)
			}
		}
	}
}

// foretell asks dry-run what a delete is going to do, before it is sent, and compares
// the answer with what has to be said.
func (s *situation) foretell(p *step) error {
	args := []string{"dry-run", "delete", strings.ToLower(p.Delete), "-o", "json",
		"--cascade=" + strings.ToLower(cmp.Or(p.Policy, "Background"))}
	if kind, _, _ := strings.Cut(p.Delete, "/"); !clusterScoped[kind] {
		args = append(args, "-n", s.Name)
	}
	code, out, errOut := run(args...)
	var plan report.Plan
	if err := json.Unmarshal([]byte(out), &plan); err != nil || code != 0 {
		return fmt.Errorf("%s: dry-run: code %d, %w: %s", s.Name, code, err, errOut)
	}
	said := map[string]string{}
	for i := range plan.Effects {
		e := &plan.Effects[i]
		said[short(e.Object)] = string(e.Outcome) + " " + e.Reason
	}
	for name, want := range p.Foretell {
		if said[name] != want {
			return fmt.Errorf("%s: dry-run says of %s %q, want %q\n%s", s.Name, name, said[name], want, out)
		}
	}
	s.foretold = plan.Effects
	return nil
}

// cameAbout compares what was foretold with what is there.
func (s *stage) cameAbout(one *situation) {
	s.Helper()
	for i := range one.foretold {
		e := &one.foretold[i]
		if e.AlreadyHappening {
			continue // of another situation, to which more is done
		}
		path := collection(e.Object.APIVersion, e.Object.Kind, e.Object.Namespace) + "/" + e.Object.Name
		want := http.StatusOK
		if e.Outcome == report.Deleted {
			want = http.StatusNotFound
		}
		got := 0
		err := cluster.Await(s.ctx, fmt.Sprintf("%s: %s is as foretold (%s)", one.Name, short(e.Object), e.Outcome), func(ctx context.Context) (bool, error) {
			_, err := plane.Do(ctx, http.MethodGet, path, "", nil)
			if got = cluster.Code(err); err == nil || got == http.StatusInternalServerError { // it is there, and cannot be converted
				got = http.StatusOK
			}
			return got == want || want == http.StatusOK, nil
		})
		if err != nil || got != want {
			s.Errorf("%s: %s: foretold %s, and the server answers %d (%v)", one.Name, short(e.Object), e.Outcome, got, err)
			continue
		}
		s.Logf("%s: %s: foretold %s (%s), and so it is", one.Name, short(e.Object), e.Outcome, e.Reason)
	}
}
