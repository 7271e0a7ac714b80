package backup

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	// revision is the revision at which the object that is being kept was read.
	revision uint64
	// deleted are the tokens and ClusterRoles, by the objects that may have been changed: the
	// ServiceAccounts of a namespace, or the ClusterRoles, at a revision.
	deleted map[past.Collection][]*object.Object
}

// collectRewrites notes a deleted token or ClusterRole, for keepRewritten.
func (k *lossKeeper) collectRewrites(ref object.Ref, raw []byte) {
	of := past.Collection{Revision: k.rewritten.revision}
	switch {
	case ref.Is(object.Secret):
		of.APIVersion, of.Kind, of.Namespace = object.ServiceAccount.APIVersion(), object.ServiceAccount.Kind, ref.Namespace
	case ref.Is(object.ClusterRole):
		of.APIVersion, of.Kind = ref.APIVersion, ref.Kind
	default:
		return
	}
	o, err := kube.ReadObject(raw, ref.APIVersion, ref.Kind, nil)
	switch {
	case err != nil:
		k.unread = errors.Join(k.unread, err)
	case ref.Is(object.ClusterRole) && o.Labels != "", o.Token() != nil && o.Token().Sure:
		if k.rewritten.deleted == nil {
			k.rewritten.deleted = map[past.Collection][]*object.Object{}
		}
		k.rewritten.deleted[of] = append(k.rewritten.deleted[of], o)
	}
}

// keepRewritten keeps the ServiceAccounts that named a deleted token, and the ClusterRoles that
// aggregated a deleted one, as they were, unless they are kept already. An undo adds the names to
// the ServiceAccounts again. The rules of the ClusterRoles come back by themselves, and the undo
// says so. A collection that cannot be read is noted in unread.
func (k *lossKeeper) keepRewritten() error {
	deleted := k.rewritten.deleted
	for _, of := range slices.SortedFunc(maps.Keys(deleted), func(a, b past.Collection) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Revision, b.Revision))
	}) {
		err := k.record.Bodies(k.ctx, of, func(raw []byte) error {
			var id identity
			if err := json.Unmarshal(raw, &id); err != nil {
				return err
			}
			uid := id.Metadata.UID
			if uid == "" || k.kept[uid] || k.earlier[uid] != nil {
				return nil
			}
			o, err := kube.ReadObject(raw, of.APIVersion, of.Kind, nil)
			if err != nil {
				k.unread = errors.Join(k.unread, err)
				return nil
			}
			if !isRewritten(o, deleted[of]) {
				return nil
			}
			return k.add(o.Ref, Changed, raw)
		})
		_, unserved := errors.AsType[*object.UnknownKindError](err)
		_, unread := errors.AsType[*past.UnreadError](err)
		switch {
		case unserved:
		case apierrors.IsForbidden(err) || unread || kube.Forgotten(err):
			k.unread = errors.Join(k.unread, err)
		case err != nil:
			return err
		}
	}
	return nil
}

// isRewritten reports whether a ServiceAccount names one of the deleted tokens, or a ClusterRole
// may aggregate one of the deleted ClusterRoles.
func isRewritten(o *object.Object, deleted []*object.Object) bool {
	if account := o.ServiceAccount(); account != nil {
		return slices.ContainsFunc(deleted, func(secret *object.Object) bool {
			return secret.Token().Of(o.Name, o.UID) && slices.Contains(account.Secrets, secret.Name)
		})
	}
	role := o.ClusterRole()
	if role == nil {
		return false
	}
	selectors, ok := role.Selectors()
	return !ok || slices.ContainsFunc(selectors, func(s labels.Selector) bool {
		return slices.ContainsFunc(deleted, func(other *object.Object) bool { return s.Matches(other.Labels) })
	})
}
