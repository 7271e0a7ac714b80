package stuck

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// foretell asks dry-run what a delete is going to do, before it is sent, and compares
// the answer with what has to be said.
func (s *situation) foretell(p *step) error {
	args := []string{"dry-run", "delete", strings.ToLower(p.Delete), "-o", "json", "--kubeconfig", plane.Kubeconfig,
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
