package outcome

import (
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// AggregationName is the controller that gives a ClusterRole the rules of those that its
// aggregationRule selects.
const AggregationName = "clusterrole-aggregation-controller"

const aggregationAssumption = "the ClusterRole aggregation controller runs"

// rewriters has the controller that changes an object because another one was deleted, and the
// assumption that this rests on, by the reason of the changed object.
var rewriters = map[reason.Code]struct{ controller, assumption string }{
	reason.TokenReferenceRemoved: {controllers.TokensName, controllers.TokensAssumption},
	reason.RulesAggregated:       {AggregationName, aggregationAssumption},
	reason.RulesUnknown:          {AggregationName, aggregationAssumption},
}

// Rewriter returns the controller that changes an object which stays, by the reason of its effect. It
// returns false for any other reason.
func Rewriter(code string) (controller string, ok bool) {
	by, ok := rewriters[reason.Code(code)]
	return by.controller, ok
}

// AddRewritten adds the objects that stay and that a controller changes because others are deleted:
// the ServiceAccount of a token, and a ClusterRole that aggregates another one. These changes cause no
// deletion, so they are not simulated. A second call replaces what the first one added, because by
// then the others may depend on timing or be deleted without the request.
func (j *Judge) AddRewritten(all *Outcomes) {
	var tokens, roles []*Outcome
	for _, out := range all.All() {
		o := out.Track.First
		switch {
		case out.Result != report.Deleted:
		case o.Is(object.Secret) && o.Token() != nil:
			tokens = append(tokens, out)
		case o.Is(object.ClusterRole):
			roles = append(roles, out)
		}
	}
	accounts := map[*object.Object][]*Outcome{}
	for _, out := range tokens {
		if account := j.accountNaming(out.Track.First); account != nil {
			accounts[account] = append(accounts[account], out)
		}
	}
	for account, causes := range accounts {
		j.rewrite(all, account, reason.TokenReferenceRemoved, causes, refsOf(causes), "")
	}
	if len(roles) > 0 {
		j.addAggregated(all, roles)
	}
}

// accountNaming returns the ServiceAccount that lists a token in its secrets. The tokens controller
// removes the entry when the token is deleted. It returns nil if the snapshot does not show that the
// Secret is a token, or that the account lists it.
//
// Upstream: pkg/controller/serviceaccount/tokens_controller.go syncSecret, removeSecretReference.
func (j *Judge) accountNaming(secret *object.Object) *object.Object {
	token := secret.Token()
	account := j.Snap.FindKind(object.ServiceAccount, secret.Namespace, token.Account)
	if !token.Sure || account == nil || !token.Of(account.Name, account.UID) {
		return nil
	}
	if facts := account.ServiceAccount(); facts == nil || !slices.Contains(facts.Secrets, secret.Name) {
		return nil
	}
	return account
}

// rewrite sets the outcome of an object that stays and that a controller changes. An object that the
// run deletes, changes or targets itself keeps its outcome.
func (j *Judge) rewrite(all *Outcomes, o *object.Object, why reason.Code, causes []*Outcome, because []object.Ref, detail string) {
	if out := j.OfObject(all, o); out != nil && out.Reason != string(why) {
		if out.Result != report.Kept || out.Track.Changed != 0 || out.Track.Target {
			return
		}
	}
	out := &Outcome{
		Track: &Track{First: o, Last: o}, Result: report.Kept, Reason: string(why), Because: because, Detail: detail,
		Assumptions: []string{rewriters[why].assumption}, AlreadyHappening: true,
	}
	for _, cause := range causes {
		out.Track.Changed |= cause.Track.Changed
		out.AlreadyHappening = out.AlreadyHappening && cause.AlreadyHappening
		out.Anyway = out.Anyway || cause.Anyway
		out.DependsOnTiming = out.DependsOnTiming || cause.DependsOnTiming
	}
	j.set(all, o, out)
}

func refsOf(list []*Outcome) []object.Ref {
	var refs []object.Ref
	for _, out := range list {
		refs = append(refs, out.Track.First.Ref)
	}
	return refs
}

// aggregation computes the rules of ClusterRoles that aggregate others. With admin aggregating edit,
// and edit aggregating view, rules of view reach edit in the first round and admin in the second.
type aggregation struct {
	// aggregates are the ClusterRoles with an aggregationRule, by name. selected are the ClusterRoles
	// that each of them selects: by selector, and then by name.
	aggregates []*object.Object
	selected   map[*object.Object][]*object.Object
}

// newAggregation indexes which ClusterRoles aggregate which. It returns false if a selector cannot
// be read.
func newAggregation(roles []*object.Object) (*aggregation, bool) {
	a := &aggregation{selected: map[*object.Object][]*object.Object{}}
	for _, o := range roles {
		facts := o.ClusterRole()
		if facts == nil || len(facts.Aggregates) == 0 {
			continue
		}
		selectors, ok := facts.Selectors()
		if !ok {
			return nil, false
		}
		a.aggregates = append(a.aggregates, o)
		for _, s := range selectors {
			for _, r := range roles {
				if r != o && s.Matches(r.Labels) {
					a.selected[o] = append(a.selected[o], r)
				}
			}
		}
	}
	return a, true
}

// rulesWithout returns the rules of the aggregates after these ClusterRoles are gone.
func (a *aggregation) rulesWithout(gone map[*object.Object]*Outcome) map[*object.Object][]string {
	rules := map[*object.Object][]string{}
	for _, o := range a.aggregates {
		rules[o] = o.ClusterRole().Rules
	}
	for range a.aggregates { // each round moves rules one step along a chain
		changed := false
		for _, o := range a.aggregates {
			if next := a.gather(o, rules, gone); !slices.Equal(next, rules[o]) {
				rules[o], changed = next, true
			}
		}
		if !changed {
			break
		}
	}
	return rules
}

// gather lists the rules of the ClusterRoles that an aggregate selects, each once.
func (a *aggregation) gather(of *object.Object, rules map[*object.Object][]string, gone map[*object.Object]*Outcome) []string {
	var list []string
	seen := map[string]bool{}
	for _, o := range a.selected[of] {
		if gone[o] != nil || o.ClusterRole() == nil {
			continue
		}
		from, aggregates := rules[o]
		if !aggregates {
			from = o.ClusterRole().Rules
		}
		for _, r := range from {
			if !seen[r] {
				seen[r] = true
				list = append(list, r)
			}
		}
	}
	return list
}

// addAggregated adds the ClusterRoles that lose rules because others are deleted. If not all
// ClusterRoles were seen, an unseen one may allow the same. If only metadata was seen, the rules are
// unknown, and nothing is added.
//
// Upstream: pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go syncClusterRole.
func (j *Judge) addAggregated(all *Outcomes, deleted []*Outcome) {
	why, loses := reason.RulesAggregated, "loses"
	if !j.Snap.Covers(object.ClusterRole.Resource(), "") {
		why, loses = reason.RulesUnknown, "may lose"
	}
	a, ok := newAggregation(j.Snap.In(object.ClusterRole.GroupResource(), ""))
	if !ok {
		return
	}
	gone := map[*object.Object]*Outcome{}
	for _, out := range deleted {
		gone[out.Track.First] = out
	}
	before, after := a.rulesWithout(nil), a.rulesWithout(gone)
	changes := func(o *object.Object) bool { return gone[o] == nil && !slices.Equal(before[o], after[o]) }
	for _, o := range a.aggregates {
		if !changes(o) {
			continue
		}
		var because []object.Ref
		for _, other := range a.selected[o] {
			if gone[other] != nil || changes(other) {
				because = append(because, other.Ref)
			}
		}
		slices.SortFunc(because, object.Compare)
		j.rewrite(all, o, why, a.causes(o, gone, changes), slices.Compact(because), lost(before[o], after[o], loses))
	}
}

// causes lists the deleted ClusterRoles that an aggregate selects, itself or through others that change.
func (a *aggregation) causes(of *object.Object, gone map[*object.Object]*Outcome, changes func(*object.Object) bool) []*Outcome {
	var found []*Outcome
	seen := map[*object.Object]bool{of: true}
	for next := []*object.Object{of}; len(next) > 0; next = next[1:] {
		for _, o := range a.selected[next[0]] {
			if seen[o] {
				continue
			}
			seen[o] = true
			if out := gone[o]; out != nil {
				found = append(found, out)
			} else if changes(o) {
				next = append(next, o)
			}
		}
	}
	return found
}

// lost says how many rules are lost. loses is the verb: "loses" or "may lose".
func lost(was, is []string, loses string) string {
	n := 0
	for _, r := range was {
		if !slices.Contains(is, r) {
			n++
		}
	}
	if n == 0 {
		return "its rules stay, in another order"
	}
	return fmt.Sprintf("it %s %d of its %d rules", loses, n, len(was))
}
