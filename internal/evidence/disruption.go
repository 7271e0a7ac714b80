package evidence

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Budget is a PodDisruptionBudget.
type Budget struct {
	Ref object.Ref `json:"-"`
	// Selector selects its pods; nil selects none.
	Selector *metav1.LabelSelector `json:"selector,omitzero"`
	// Allowed is the number of pods that may be evicted now. It is nil if the status was not read.
	Allowed *int `json:"allowed,omitzero"`
}

// budgetBody has the fields that are read from a PodDisruptionBudget.
type budgetBody struct {
	Spec struct {
		Selector *metav1.LabelSelector `json:"selector"`
	} `json:"spec"`
	Status struct {
		Allowed *int `json:"disruptionsAllowed"`
	} `json:"status"`
}

func (s *Shown) takeBudget(b *body, raw []byte) error {
	var d budgetBody
	if err := decode(raw, &d); err != nil {
		return err
	}
	s.Budgets = append(s.Budgets, Budget{Ref: b.ref(), Selector: d.Spec.Selector, Allowed: d.Status.Allowed})
	return nil
}

// Eviction is a pod that blocks a drain.
type Eviction struct {
	// Budget is the budget that forbids to evict Pod.
	Budget *Budget
	Pod    *object.Object
}

// Evictions returns, for each budget that allows no disruption, the first pod on a node that the
// budget protects from eviction. It is computed on first use.
//
// Upstream: pkg/registry/core/pod/storage/eviction.go EvictionREST.Create.
func (s *Surroundings) Evictions(node string) []Eviction {
	if s.seen == nil || node == "" || len(s.seen.Budgets) == 0 {
		return nil
	}
	if s.evictions == nil {
		s.evictions = s.allEvictions()
	}
	return s.evictions[node]
}

// allEvictions returns the evictions by node name.
func (s *Surroundings) allEvictions() map[string][]Eviction {
	found := map[string][]Eviction{}
	for n := range s.seen.Budgets {
		b := &s.seen.Budgets[n]
		if b.Allowed == nil || *b.Allowed > 0 || b.Selector == nil {
			continue
		}
		match, err := metav1.LabelSelectorAsSelector(b.Selector)
		if err != nil {
			continue
		}
		first := map[string]bool{}
		for _, pod := range s.snap.In(object.Pod.GroupResource(), b.Ref.Namespace) {
			f := pod.Pod()
			if f == nil || f.NodeName == "" || first[f.NodeName] || f.Finished() || f.Mirror || pod.BeingDeleted() || !match.Matches(pod.Labels) {
				continue
			}
			first[f.NodeName] = true
			found[f.NodeName] = append(found[f.NodeName], Eviction{b, pod})
		}
	}
	return found
}

// Text says what blocks a drain of a node.
func (x *Eviction) Text(known object.Ref) string {
	ref := report.RefOf(known)
	return ref.ShortName() + " in namespace " + ref.Namespace + " allows no eviction of " + report.RefOf(x.Pod.Ref).ShortName() + ": a drain of node " + x.Pod.Pod().NodeName + " waits for it"
}

// Cordoned reports whether a node is known to be cordoned.
func (s *Surroundings) Cordoned(node string) bool {
	n := s.nodesSeen[node]
	return n != nil && n.Cordoned
}

// DrainedNode returns the node that is drained before an object is deleted: a Node itself, or the
// node of a Cluster API Machine whose conditions mention a drain. It is empty for any other object.
func (s *Surroundings) DrainedNode(o *object.Object) string {
	if o.Is(object.Node) && o.BeingDeleted() {
		return o.Name
	}
	t := s.Shown(o)
	if t == nil || o.Kind != "Machine" || o.Group() != "cluster.x-k8s.io" {
		return ""
	}
	for _, c := range t.Conditions {
		if strings.Contains(strings.ToLower(c.Type+" "+c.Reason+" "+c.Message), "drain") {
			return t.Node
		}
	}
	return ""
}
