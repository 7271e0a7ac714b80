package stuck

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// deletionWords appear in the types of conditions about a deletion, such as DeletionIsBlocked of
// Rook, DeletionError of Argo CD and Deleting of Cluster API. failureWords appear in the types of
// conditions that are bad if true.
var (
	deletionWords = []string{"delet", "terminat", "finaliz", "cleanup", "teardown", "destroy"}
	failureWords  = []string{"block", "error", "fail", "stalled", "degraded", "unhealthy", "conflict", "invalid", "paused", "suspended", "unreachable", "stuck"}
)

// proveConditions adds what the controller of an object reports in its conditions.
func (i *inquiry) proveConditions(o *object.Object, e *end) {
	t := i.around.Shown(o)
	if t == nil || o.Is(object.Namespace) {
		return // these conditions name failures, so that False is good
	}
	const most = 3
	list := slices.DeleteFunc(slices.Clone(t.Conditions), func(c evidence.Condition) bool { return weight(c) == 0 })
	slices.SortStableFunc(list, func(a, b evidence.Condition) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(b.Since, a.Since))
	})
	for _, c := range list[:min(len(list), most)] {
		e.prove(reason.ConditionSays, nil, conditionText(c))
	}
}

// weight returns how much a condition explains why an object stays, from 0 for nothing to 4.
func weight(c evidence.Condition) int {
	typ := strings.ToLower(c.Type)
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(typ, w) })
	}
	isBad, holds := has(failureWords), c.Status != "False"
	switch {
	case c.Message == "" && (c.Reason == "" || !holds):
		return 0
	case has(deletionWords) && holds && isBad:
		return 4
	case has(deletionWords) && holds:
		return 3
	case isBad && holds:
		return 2
	case !isBad && !has(deletionWords) && c.Status != "True" && c.Status != "":
		return 1
	}
	return 0
}

// conditionText formats a condition. Those of Argo CD have no status.
func conditionText(c evidence.Condition) string {
	text := c.Type
	if c.Status != "" {
		text += " is " + c.Status
	}
	for _, more := range []string{c.Reason, c.Message} {
		if more != "" {
			text += ": " + more
		}
	}
	return text
}
