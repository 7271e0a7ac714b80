package backup

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
)

// rewrites are the deletions that make controllers change other objects: those of ServiceAccount
// tokens and ClusterRoles. The changed objects are kept, too. In the backup of a run they are
// consequences of the plan.
//
// Upstream: pkg/controller/serviceaccount/tokens_controller.go removeSecretReference.
// Upstream: pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go syncClusterRole.
type rewrites struct {
	// revision is the revision of the object that is being kept.
	revision uint64
	// tokens are the names of deleted tokens, by the ServiceAccounts that may name them: those of a
	// namespace at a revision.
	tokens map[past.Collection]map[string]bool
	// roles are the labels of deleted ClusterRoles, by the ClusterRoles at a revision.
	roles map[past.Collection][]labels.Set
}

// secretName is an entry of the secrets of a ServiceAccount.
type secretName struct {
	Name string `json:"name"`
}

// noteRewrites notes a deleted token or ClusterRole, for keepRewritten.
func (k *keeper) noteRewrites(ref object.Ref, raw []byte) {
	r := &k.rewritten
	switch {
	case ref.Is(object.Secret):
		var secret struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(raw, &secret) != nil || secret.Type != "kubernetes.io/service-account-token" {
			return
		}
		at := past.Collection{APIVersion: "v1", Kind: object.ServiceAccount.Resource().Kind, Namespace: ref.Namespace, Revision: r.revision}
		if r.tokens == nil {
			r.tokens = map[past.Collection]map[string]bool{}
		}
		if r.tokens[at] == nil {
			r.tokens[at] = map[string]bool{}
		}
		r.tokens[at][ref.Name] = true
	case ref.Is(object.ClusterRole):
		var role metav1.PartialObjectMetadata
		if json.Unmarshal(raw, &role) != nil || len(role.Labels) == 0 {
			return
		}
		at := past.Collection{APIVersion: ref.APIVersion, Kind: ref.Kind, Revision: r.revision}
		if r.roles == nil {
			r.roles = map[past.Collection][]labels.Set{}
		}
		r.roles[at] = append(r.roles[at], role.Labels)
	}
}

// keepRewritten keeps the ServiceAccounts that named a deleted token, and the ClusterRoles that
// aggregated a deleted one, as they were. An undo adds the names to the ServiceAccounts again. The
// rules of the ClusterRoles come back by themselves, and the undo says so.
func (k *keeper) keepRewritten() error {
	tokens, roles := k.rewritten.tokens, k.rewritten.roles
	for _, at := range slices.SortedFunc(maps.Keys(tokens), compareCollections) {
		if err := k.keepChanged(at, func(raw []byte) bool {
			var account struct {
				Secrets []secretName `json:"secrets"`
			}
			return json.Unmarshal(raw, &account) == nil &&
				slices.ContainsFunc(account.Secrets, func(s secretName) bool { return tokens[at][s.Name] })
		}); err != nil {
			return err
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(roles), compareCollections) {
		if err := k.keepChanged(at, func(raw []byte) bool {
			var role struct {
				Rule struct {
					Selectors []metav1.LabelSelector `json:"clusterRoleSelectors"`
				} `json:"aggregationRule"`
			}
			if json.Unmarshal(raw, &role) != nil {
				return false
			}
			return slices.ContainsFunc(role.Rule.Selectors, func(s metav1.LabelSelector) bool {
				match, err := metav1.LabelSelectorAsSelector(&s)
				return err == nil && slices.ContainsFunc(roles[at], func(set labels.Set) bool { return match.Matches(set) })
			})
		}); err != nil {
			return err
		}
	}
	return nil
}

func compareCollections(a, b past.Collection) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Revision, b.Revision))
}

// keepChanged keeps the objects of a collection that are changed, unless they are kept already. A
// collection that cannot be read is noted in unread.
func (k *keeper) keepChanged(of past.Collection, changed func(raw []byte) bool) error {
	err := k.record.Bodies(k.ctx, of, func(raw []byte) error {
		var id identity
		if err := json.Unmarshal(raw, &id); err != nil {
			return err
		}
		uid := id.Metadata.UID
		if uid == "" || k.kept[uid] || k.earlier[uid] != nil || !changed(raw) {
			return nil
		}
		return k.add(object.Ref{APIVersion: of.APIVersion, Kind: of.Kind, Namespace: id.Metadata.Namespace, Name: id.Metadata.Name, UID: uid}, Changed, raw)
	})
	_, unserved := errors.AsType[*object.UnknownKindError](err)
	_, unread := errors.AsType[*past.UnreadError](err)
	switch {
	case unserved:
		return nil
	case apierrors.IsForbidden(err) || unread || kube.Forgotten(err):
		k.unread = errors.Join(k.unread, err)
		return nil
	}
	return err
}
