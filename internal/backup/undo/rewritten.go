package undo

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// rewritten says whether a change that a controller made to an existing object, because another one was
// deleted, is undone when the other one is restored.
//
// Upstream: pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go syncClusterRole.
// Upstream: pkg/controller/serviceaccount/tokens_controller.go removeSecretReference.
func (p *planning) rewritten(n *node) {
	switch {
	case n.Object.Is(object.ClusterRole) && at(n.content, "aggregationRule") != nil:
		n.skip.Reason = reason.RulesComeBack
	case n.Object.Is(object.ServiceAccount):
		if lost := p.secretsLost(n); len(lost) > 0 {
			n.skip.Reason, n.skip.Detail = reason.SecretsLost, strings.Join(lost, ", ")
		}
	}
}

// secretsLost lists the saved entries of a ServiceAccount's secrets that are missing now. It is empty if
// the ServiceAccount cannot be read.
func (p *planning) secretsLost(n *node) []string {
	if p.now.Content == nil {
		return nil
	}
	raw, err := p.now.Content(n.Object)
	if err != nil {
		return nil
	}
	now, err := ContentOf(raw)
	if err != nil || textAt(now, "metadata", "uid") != string(n.live.UID) {
		return nil
	}
	left := secretNames(now)
	return slices.DeleteFunc(secretNames(n.content), func(name string) bool { return slices.Contains(left, name) })
}

func secretNames(account map[string]any) []string {
	list, _ := account["secrets"].([]any)
	var names []string
	for _, entry := range list {
		if ref, ok := entry.(map[string]any); ok {
			names = append(names, text(ref, "name"))
		}
	}
	return names
}
