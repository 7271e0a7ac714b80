package lost

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// TestCodes: every cause of the history has a text.
func TestCodes(t *testing.T) {
	for _, code := range []history.Code{
		history.Requested, history.OwnerGone, history.OwnerReplaced, history.OwnerWaits, history.OwnerOrphans, history.ReferenceRemoved,
		history.NamespaceDeleted, history.DefinitionDeleted, history.AccountGone, history.ServiceGone, history.EndpointsGone,
		history.ClaimGone, history.VersionGone, history.NodeGone, history.Controller, history.ControllerChanged, history.Evicted,
		history.CleanedUp, history.OwnerUnknown, history.NamespaceUnknown, history.DefinitionUnknown, history.KindUnknown,
		history.Before, history.Unseen, history.ByKubernetes,
	} {
		if m := reason.Lost.Of(reason.Code(code)); m == nil || m.Short == "" {
			t.Errorf("%s has none", code)
		}
	}
}

// TestLimits: everything unknown is a limit or a gap, with a code in front of the reason, and makes
// the answer incomplete. Cluster-scoped kinds are not part of a namespace.
func TestLimits(t *testing.T) {
	past := &history.Past{
		From: history.Moment{Revision: 100, Time: 1000}, To: history.Moment{Revision: 900, Time: 1300},
		Limits: []history.Limit{
			{Resource: object.Pod.Resource(), From: history.Moment{Revision: 200}, Why: "too old"},
			{Resource: object.ConfigMap.Resource(), From: history.Moment{Revision: 100}, Why: "there was more"},
			{Resource: object.Secret.Resource(), Why: "secrets is forbidden"},
			{Resource: object.Service.Resource(), Why: "NotServed: 404"},
			{Resource: object.Node.Resource()},
			{Resource: object.CRD.Resource(), Why: "no connection"},
		},
	}
	for _, test := range []struct {
		q        Question
		complete bool
		gaps     []string
	}{
		{q: Question{}, gaps: []string{
			"ListFailed: no connection", "Partial: there was more", "ListFailed", "Forbidden: secrets is forbidden", "NotServed: 404",
		}},
		{q: Question{Namespace: "shop"}, gaps: []string{
			"ListFailed: no connection", "Partial: there was more", "Forbidden: secrets is forbidden", "NotServed: 404",
		}},
	} {
		d := Document(&history.Account{Past: past}, test.q)
		var whys []string
		for _, g := range d.Gaps {
			whys = append(whys, g.Why)
		}
		if diff := cmp.Diff(test.gaps, whys); diff != "" || d.Complete || len(d.Limits) != 1 || d.Limits[0].Why != "Expired: too old" {
			t.Errorf("%+v: complete %v, limits %v, gaps (-want +got):\n%s", test.q, d.Complete, d.Limits, diff)
		}
	}
	past.Limits = nil
	for q, short := range map[*Question]bool{
		{}: false, {Since: 5 * time.Minute}: false, {Since: 5*time.Minute + 15*time.Second}: false, {Since: 6 * time.Minute}: true,
		{SinceRevision: 100}: false, {SinceRevision: 99}: true,
	} {
		if d := Document(&history.Account{Past: past}, *q); d.Short != short || d.Complete == short {
			t.Errorf("%+v: short %v, complete %v", q, d.Short, d.Complete)
		}
	}
}

// TestUndo: the command still reaches the losses some minutes after it was printed, and includes
// every namespace that something must be created in first.
func TestUndo(t *testing.T) {
	clock := history.NewClock([]history.Moment{{Revision: 1, Time: 1000}, {Revision: 100, Time: 1500}})
	past := &history.Past{From: clock.First(), To: clock.Last(), Clock: clock}
	lose := func(ref object.Ref, request int) history.Loss {
		return history.Loss{Object: &object.Object{Ref: ref}, Asked: 50, Gone: 50, Cause: history.Cause{Code: history.Requested, Request: request}}
	}
	pod, ns, crd := object.Pod.Ref("shop", "web"), object.Namespace.Ref("", "shop"), object.CRD.Ref("", "databases.example.com")
	for want, losses := range map[string][]history.Loss{
		"":                                    nil,
		"kubectl gc undo --since=15m -n shop": {lose(ns, 0), lose(pod, 0)},
		"kubectl gc undo --since=15m -A":      {lose(crd, 0), lose(pod, 0)},
	} {
		a := &history.Account{Past: past, Losses: losses}
		if len(losses) > 0 {
			a.Requests = []history.Request{{Losses: []int{0}, At: history.Moment{Revision: 50, Time: 1000}, Took: len(losses)}}
		}
		for _, undo := range []bool{true, false} {
			got := ""
			if d := Document(a, Question{Undo: undo}); len(d.Remedies) > 0 {
				got = d.Remedies[0].Command
			}
			if undo && got != want || !undo && got != "" {
				t.Errorf("%q, want %q", got, want)
			}
		}
		if d := Document(a, Question{Undo: true, Namespace: "shop"}); len(losses) > 0 && d.Remedies[0].Command != "kubectl gc undo --since=15m -n shop" {
			t.Errorf("of a namespace: %v", d.Remedies)
		}
	}
}
