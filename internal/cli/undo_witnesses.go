package cli

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// enoughWitnesses is the number of witnesses to look for; a later undo needs one.
const enoughWitnesses = 5

// witnesses returns objects that identify the cluster in a later undo: namespaces of the losses, or
// an object in each if namespaces can't be read. For a file they are namespaces in the file, since
// the current cluster may be another one.
func (k *keeping) witnesses(l backup.Losses) []object.Ref {
	var all []object.Ref
	for _, o := range k.account.Past.Standing {
		if o.Is(object.Namespace) {
			all = append(all, o.Ref)
		}
	}
	if !k.record.Live {
		return all
	}
	found := 0
	for _, name := range spacesOf(k.account, l) {
		if found == enoughWitnesses {
			break
		}
		for _, ref := range []object.Ref{object.Namespace.Ref("", name), object.ConfigMap.Ref(name, undo.RootCertificates)} {
			if o, err := k.client.Get(k.c.Context(), ref); err == nil && !o.BeingDeleted() {
				all = append(all, o.Ref)
				found++
				break
			}
		}
	}
	slices.SortFunc(all, object.Compare)
	return slices.Compact(all)
}

// spacesOf returns the sorted namespaces of losses.
func spacesOf(account *history.Account, l backup.Losses) []string {
	var names []string
	for _, i := range l.Which {
		if ns := account.Losses[i].Object.Namespace; ns != "" {
			names = append(names, ns)
		}
	}
	for _, of := range l.Whole {
		if of.Namespace != "" {
			names = append(names, of.Namespace)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
