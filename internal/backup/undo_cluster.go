package backup

import (
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// UnknownClusterError reports that nothing shows whether a backup is of this cluster. Its objects
// are not created in what may be another cluster unless the user says that it is the same.
type UnknownClusterError struct {
	// Made and Here are the addresses of the API servers at backup time and now.
	Made, Here string
}

// Error says which evidence is missing.
func (e *UnknownClusterError) Error() string {
	where := fmt.Sprintf("The backup was made at %s, this cluster is at %s", e.Made, e.Here)
	if e.Made == e.Here {
		where = "Both have the address " + e.Here
	}
	return "nothing shows that this backup is of this cluster: namespace kube-system could not be read when it was made, or cannot be read now," +
		" and no namespace or object of the backup is still here.\n" + where
}

// sameCluster returns the proof that the cluster is the one of a backup. A different cluster is an
// error, and so is a lack of proof (*UnknownClusterError). Proofs that a later undo finds, too,
// take precedence over those that only this run has.
func sameCluster(b *Backup, id kube.Identity, look lookup, plan *undo.Plan, o UndoPlanOptions) (report.ClusterProof, error) {
	err := b.CheckCluster(id.ClusterUID)
	switch {
	case err == nil:
		return report.ProofClusterUID, nil
	case !errors.Is(err, ErrUnknownCluster):
		return "", err
	}
	for _, w := range b.Head.Witnesses {
		if live, err := look.find(w); err == nil && live != nil && live.UID == w.UID {
			if w.Is(object.Namespace) {
				return report.ProofNamespace, nil
			}
			return report.ProofObject, nil
		}
	}
	switch {
	case plan.Recognised():
		return report.ProofObject, nil
	case o.JustSaved:
		return report.ProofJustSaved, nil
	case o.AssumeSameCluster:
		return report.ProofAssumed, nil
	default:
		return "", &UnknownClusterError{Made: b.Head.Cluster.Server, Here: id.Server}
	}
}
