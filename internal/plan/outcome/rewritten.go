package outcome

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// AggregationName is the controller that gives a ClusterRole the rules of those that its
// aggregationRule selects.
const AggregationName = "clusterrole-aggregation-controller"

const aggregationAssumption = "the ClusterRole aggregation controller runs"

// rewriters are the controllers that change an object because another one has gone, by the
// reason of the object that changes, with what has to hold for them to do so.
var rewriters = map[reason.Code]struct{ controller, assumption string }{
	reason.TokenReferenceRemoved: {controllers.TokensName, controllers.TokensAssumption},
	reason.RulesAggregated:       {AggregationName, aggregationAssumption},
	reason.RulesUnknown:          {AggregationName, aggregationAssumption},
}

// Rewriter is the controller that changes an object which stays, by the reason of its effect;
// false for any other reason.
func Rewriter(code string) (controller string, ok bool) {
	by, ok := rewriters[reason.Code(code)]
	return by.controller, ok
}

// AddRewritten adds the objects that stay, and that a controller changes because others go: the
// ServiceAccount of a token, and a ClusterRole that aggregates another one. Neither decides what
// is deleted, so that it is not simulated. What was added before is judged again: whether the
// others go may depend on timing by now, or happen anyway.
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

// accountNaming is the ServiceAccount that names a token in its secrets, and from which the
// tokens controller takes that name when the token has gone. It is nil where the snapshot does
// not show that the Secret is a token, or that the account names it.
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

// rewrite gives an object that stays the outcome that a controller changes it. One of which more
// than that is said keeps its own.
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

// aggregation is what the ClusterRoles that aggregate others come to.
type aggregation struct {
	// roles are all that are there, by name, aggregates those of them that have the rules of others.
	roles, aggregates []*object.Object
	selectors         map[*object.Object][]labels.Selector
	rules             map[*object.Object][]string
}

// addAggregated adds the ClusterRoles that get other rules because some go. Where not all
// ClusterRoles were seen, another one may allow the same. Where only their metadata was seen,
// nothing is known of rules, and nothing is said.
//
// Upstream: pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go syncClusterRole.
func (j *Judge) addAggregated(all *Outcomes, gone []*Outcome) {
	why, loses := reason.RulesAggregated, "loses"
	if !j.Snap.Covers(object.ClusterRole.Resource(), "") {
		why, loses = reason.RulesUnknown, "may lose"
	}
	a := aggregation{selectors: map[*object.Object][]labels.Selector{}}
	for _, o := range j.Snap.In(object.ClusterRole.GroupResource(), "") {
		a.roles = append(a.roles, o)
		if facts := o.ClusterRole(); facts != nil && len(facts.Aggregates) > 0 {
			selectors, ok := facts.Selectors()
			if !ok {
				return
			}
			a.aggregates, a.selectors[o] = append(a.aggregates, o), selectors
		}
	}
	a.settle()
	before := a.rules
	causes := map[*object.Object][]*Outcome{}
	for _, out := range gone {
		causes[out.Track.First] = []*Outcome{out}
	}
	a.roles = slices.DeleteFunc(slices.Clone(a.roles), func(o *object.Object) bool { return causes[o] != nil })
	a.settle()
	for range a.aggregates { // a → b → c: what c comes to is because of a
		for _, o := range a.aggregates {
			was, is := before[o], a.rules[o]
			if slices.Equal(was, is) || j.resultOf(all, o) == report.Deleted {
				continue
			}
			var because []object.Ref
			var by []*Outcome
			for other, outs := range causes {
				if other != o && a.selects(o, other) {
					because, by = append(because, other.Ref), append(by, outs...)
				}
			}
			causes[o] = by
			slices.SortFunc(because, object.Compare)
			j.rewrite(all, o, why, by, because, lost(was, is, loses))
		}
	}
}

// resultOf is what becomes of an object; empty if it has no outcome.
func (j *Judge) resultOf(all *Outcomes, o *object.Object) report.Outcome {
	if out := j.OfObject(all, o); out != nil {
		return out.Result
	}
	return ""
}

// settle gives the aggregates the rules of those that they select, until nothing changes: an
// aggregate may select another one.
func (a *aggregation) settle() {
	a.rules = map[*object.Object][]string{}
	for _, o := range a.roles {
		if facts := o.ClusterRole(); facts != nil {
			a.rules[o] = facts.Rules
		}
	}
	for range a.aggregates {
		changed := false
		for _, o := range a.aggregates {
			if next := a.gather(o); !slices.Equal(next, a.rules[o]) {
				a.rules[o], changed = next, true
			}
		}
		if !changed {
			return
		}
	}
}

// gather lists the rules of the ClusterRoles that an aggregate selects, each once: by selector,
// and then by name.
func (a *aggregation) gather(of *object.Object) []string {
	var rules []string
	for _, s := range a.selectors[of] {
		for _, o := range a.roles {
			if o.Name == of.Name || !s.Matches(o.Labels) {
				continue
			}
			for _, r := range a.rules[o] {
				if !slices.Contains(rules, r) {
					rules = append(rules, r)
				}
			}
		}
	}
	return rules
}

func (a *aggregation) selects(of, o *object.Object) bool {
	return slices.ContainsFunc(a.selectors[of], func(s labels.Selector) bool { return s.Matches(o.Labels) })
}

// lost says how many rules go; loses is the verb for it.
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
