package deployers

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

var (
	worlds = flag.Int("worlds", 20, "worlds to draw")
	seed   = flag.Uint64("seed", 1, "the seed of the first one")
)

// TestFlux deletes Kustomizations: what Flux' own code and the garbage collector delete is what the plans
// said, object by object.
func TestFlux(t *testing.T) {
	s := enter(t)
	s.fence()
	all := make([]*world, *worlds)
	plans := make([]report.Plan, len(all))
	for i := range all {
		all[i] = draw(*seed+uint64(i), fmt.Sprintf("w%d", i))
		s.create(all[i])
	}
	for i, w := range all {
		plans[i] = s.plan(w)
	}
	for _, w := range all {
		s.must(s.client.Delete(t.Context(), w.from, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	}
	s.work(t.Context())
	judged, unknown := 0, 0
	for i, w := range all {
		left := s.states(w)
		predicted := predictions(plans[i])
		for _, o := range append(slices.Clone(w.objects), w.from) {
			name := nameOf(o)
			now, there := left[name]
			want, known := predicted[name]
			switch {
			case !known:
				want = report.Kept
			case want == report.Unknown:
				unknown++
				continue
			}
			judged++
			if there == (want == report.Deleted) || now.deleting != (want == report.Blocked) {
				t.Errorf("seed %d: %s was %s in the plan; there: %t, being deleted: %t", *seed+uint64(i), name, want, there, now.deleting)
			}
		}
	}
	t.Logf("%d worlds, %d objects judged, %d unknown", len(all), judged, unknown)
}

// predictions are the outcomes of a plan by kind and name.
func predictions(p report.Plan) map[string]report.Outcome {
	outcomes := map[string]report.Outcome{}
	for _, e := range p.Effects {
		outcomes[e.Object.Kind+"/"+e.Object.Name] = e.Outcome
	}
	return outcomes
}
