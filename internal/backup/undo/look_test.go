package undo

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestLookRules checks that each example is decided by its rule, that its result changes without the
// rule, and that it changes if the next rule comes first exactly if the rule has a why.
func TestLookRules(t *testing.T) {
	changed := func(s Saved) Saved { s.Changed = true; return s }
	damaged := func(name string) Saved { return Saved{Object: refOf(name), Raw: []byte("{")} }
	goesAgain := another("ConfigMap a")
	goesAgain.Edit().DeletionTimestamp = 1
	account := saved("ServiceAccount default", `{"imagePullSecrets":[{"name":"registry"}]}`)
	complete := saved("Job.batch backup", `{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`)
	// The examples of the rules, in their order. If a rule has a why, the next one holds, too.
	examples := []struct {
		rule  string
		saved Saved
		found *object.Object
		// again is the UID from an earlier undo. closed: the API server does not answer.
		again  types.UID
		closed bool
	}{
		{rule: "made before", saved: account, found: another("ServiceAccount default"), again: "another"},
		{rule: "default account", saved: account, found: another("ServiceAccount default")},
		{rule: "another", saved: saved("ConfigMap a", ""), found: goesAgain},
		{rule: "terminating", saved: saved("ConfigMap a", ""), found: going("ConfigMap a")},
		{rule: "changed, unreadable", saved: changed(damaged("ReplicaSet.apps web-1")), found: live("ReplicaSet.apps web-1")},
		{rule: "alive", saved: saved("ConfigMap a", ""), found: live("ConfigMap a")},
		{rule: "unknown", saved: Saved{Object: refOf("ConfigMap a"), Forgotten: true}, closed: true},
		{rule: "forgotten", saved: Saved{Object: refOf("ConfigMap a"), Forgotten: true}},
		{rule: "not saved", saved: Saved{Object: refOf("ConfigMap a")}},
		{rule: "unreadable", saved: damaged("ConfigMap a")},
		{rule: "finished", saved: complete},
		{rule: "made", saved: saved("ConfigMap a", "")},
	}
	if len(examples) != len(stateRules) {
		t.Fatalf("%d examples for %d rules", len(examples), len(stateRules))
	}
	// decides reports whether the first of the rules that holds for example i has the result of rule i.
	decides := func(rules []stateRule, i int) bool {
		x, c := examples[i], clusterOf()
		if x.found != nil {
			c = clusterOf(x.found)
		}
		if x.closed {
			c.closed = map[object.Coordinates]bool{x.saved.Object.Coordinates(): true}
		}
		p := &planning{now: Cluster{Lookup: c.lookup}, again: map[types.UID]types.UID{x.saved.Object.UID: x.again}}
		f := p.find(&node{Saved: x.saved})
		n := slices.IndexFunc(rules, func(r stateRule) bool { return r.holds(f) })
		return n >= 0 && rules[n].state == stateRules[i].state && rules[n].reason == stateRules[i].reason
	}
	for i, r := range stateRules {
		t.Run(r.name, func(t *testing.T) {
			if examples[i].rule != r.name || !decides(stateRules, i) {
				t.Fatalf("example %d, for %q, is not decided by this rule", i, examples[i].rule)
			}
			if decides(slices.Delete(slices.Clone(stateRules), i, i+1), i) {
				t.Error("the result is the same without the rule")
			}
			if i+1 == len(stateRules) {
				return
			}
			swapped := slices.Clone(stateRules)
			swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
			if decides(swapped, i) != (r.why == "") {
				t.Errorf("the result depends on the order of this rule and the next, or has no reason to: %q", r.why)
			}
			if r.why == "" && !decides(swapped, i+1) {
				t.Error("the next rule decides otherwise if it comes first, and there is no why")
			}
		})
	}
}
