package undo

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// rewritten decides about an object that a controller changed because another object was deleted:
// whether restoring the other object undoes the change.
//
// Upstream: pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go syncClusterRole.
// Upstream: pkg/controller/serviceaccount/tokens_controller.go removeSecretReference.
func (p *planning) rewritten(n *node) {
	switch {
	case n.Object.Is(object.ClusterRole) && at(n.content, "aggregationRule") != nil:
		n.skip.Reason = reason.RulesComeBack
	case n.Object.Is(object.ServiceAccount):
		p.giveSecrets(n)
	}
}

// giveSecrets plans to add the lost names of Secrets to a ServiceAccount, if the Secrets exist or
// are recreated. The tokens controller does not add them.
func (p *planning) giveSecrets(n *node) {
	lost, raw := p.secretsLost(n)
	if len(lost) == 0 {
		return
	}
	s := Step{Verb: Secrets, Object: n.Object, live: n.live, now: raw, Notes: []reason.Code{reason.SecretsAdded}}
	var gone []string
	for _, name := range lost {
		at := object.Secret.Ref(n.Object.Namespace, name)
		if i, planned := p.places[at.Coordinates()]; planned && p.nodes[i].state == made || HasSecret(p.now.Lookup, at) {
			s.Secrets = append(s.Secrets, name)
		} else {
			gone = append(gone, name)
		}
	}
	switch {
	case len(s.Secrets) == 0:
		n.skip.Reason, n.skip.Detail = reason.SecretsLost, strings.Join(gone, ", ")
		return
	case len(gone) > 0:
		s.Notes = append(s.Notes, reason.SecretsLost)
	}
	n.step = s
}

// HasSecret reports whether a Secret exists and is not being deleted.
func HasSecret(look Lookup, at object.Ref) bool {
	live, err := look(at)
	return err == nil && live != nil && !live.BeingDeleted()
}

// secretsLost returns the saved entries of a ServiceAccount's secrets that are missing now, and the
// current bytes of the ServiceAccount. Both are nil if it cannot be read.
func (p *planning) secretsLost(n *node) (lost []string, raw []byte) {
	if p.now.Content == nil {
		return nil, nil
	}
	raw, err := p.now.Content(n.Object)
	if err != nil {
		return nil, nil
	}
	now, err := ContentOf(raw)
	if err != nil || textAt(now, "metadata", "uid") != string(n.live.UID) {
		return nil, nil
	}
	left := secretNames(now)
	return slices.DeleteFunc(secretNames(n.content), func(name string) bool { return slices.Contains(left, name) }), raw
}

// secretsAdded returns a merge patch that adds the names of the step to the secrets of a
// ServiceAccount, with its UID and resourceVersion. Existing entries stay.
func (s *Step) secretsAdded(live *object.Object, now map[string]any) ([]byte, error) {
	list, _ := now["secrets"].([]any)
	has := secretNames(now)
	for _, name := range s.Secrets {
		if !slices.Contains(has, name) {
			list = append(list, map[string]any{"name": name})
		}
	}
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": live.UID, "resourceVersion": live.ResourceVersion}, "secrets": list,
	})
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
