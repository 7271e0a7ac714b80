package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Undo is a planned undo.
type Undo struct {
	client *kube.Client
	head   Head
	path   string
	plan   *undo.Plan
	values shownValues
	out    *report.Undo
}

// Document returns the plan, and after Run also its results.
func (u *Undo) Document() *report.Undo { return u.out }

// UndoPlanOptions are the options of PlanUndo.
type UndoPlanOptions struct {
	// AssumeSameCluster accepts a backup if nothing shows whether it is of this cluster. A backup
	// that is known to be of another cluster stays refused.
	AssumeSameCluster bool
	// JustSaved reports that the caller has just saved the backup itself, with the same client.
	JustSaved bool
	// Overwrite restores the saved content of objects that exist again with other content.
	Overwrite bool
	// Finished recreates work that had finished; its controllers may run it once more.
	Finished bool
	// Values includes the values of differing fields in the document, not only their paths.
	Values bool
	// Reading is called about the memory of the backup and its journals, Restoring about the bytes
	// of its objects and their decoded form. Nil allows everything.
	Reading, Restoring Memory
}

// PlanUndo opens the backup in dir and plans the undo of its run. It is an error if the backup is
// damaged, was never finished or is of another cluster, and a *UnknownClusterError if nothing shows
// the cluster.
func PlanUndo(ctx context.Context, client *kube.Client, id kube.Identity, dir string, o UndoPlanOptions) (u *Undo, err error) {
	b, err := Open(dir, o.Reading)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := b.Close(); err == nil {
			err = closed
		}
	}()
	if err := b.CheckCluster(id.ClusterUID); err != nil && !errors.Is(err, ErrUnknownCluster) {
		return nil, err // before any request
	}
	if _, err := client.Discover(ctx); err != nil {
		return nil, err
	}
	look := lookup{ctx: ctx, from: client.Proven(kube.ProofOptions{})}
	again, err := madeBefore(ctx, client, dir, o.Reading)
	if err != nil {
		return nil, err
	}
	saved, err := savedIn(b, o.Restoring)
	if err != nil {
		return nil, err
	}
	now := clusterOf(ctx, client, look)
	now.Heirs = b.Head.Command == LostCommand // the user who deleted an owner may have recreated it
	now.Overwrite, now.Finished = o.Overwrite, o.Finished
	u = &Undo{client: client, head: b.Head, path: dir, plan: undo.Resume(saved, now, again), values: shownValues(o.Values)}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	proof, err := sameCluster(b, id, look, u.plan, o)
	if err != nil {
		return nil, err
	}
	u.out = document(u.plan, u.values)
	u.out.SameCluster = proof
	u.out.Bundle = dir
	u.out.Source = report.Source{Type: "cluster", Context: id.Context, Server: id.Server, ClusterUID: id.ClusterUID, KubernetesVersion: id.Version, Rules: release.MinorOf(id.Version).Nearest().String()}
	u.out.Digest = digestOf(b, u.plan, id, proof)
	return u, nil
}

// savedIn returns the objects of a backup.
func savedIn(b *Backup, memory Memory) ([]undo.Saved, error) {
	saved := make([]undo.Saved, len(b.Entries))
	weight, asked := int64(0), int64(0) // bytes needed to decode them later
	for i := range b.Entries {
		e := &b.Entries[i]
		raw, err := b.Raw(e)
		if err != nil {
			return nil, err
		}
		weight += manifest.Weight(raw)
		if memory != nil && weight-asked > askEach {
			asked = weight
			if err := memory(weight, i+1); err != nil {
				return nil, fmt.Errorf("backup %s: %s: %w", b.Path(), e.File, err)
			}
		}
		saved[i] = undo.Saved{Object: e.Object, Raw: raw, Changed: e.Action == Changed, Forgotten: e.Why == Forgotten}
	}
	return saved, nil
}

// lookup reads from the cluster. It reports an object as absent only if that is proven.
type lookup struct {
	ctx  context.Context
	from *kube.Proven
}

func (l lookup) find(ref object.Ref) (*object.Object, error) {
	r, err := l.from.Resource(ref.APIVersion, ref.Kind)
	if err == nil && !r.Namespaced {
		ref.Namespace = ""
	}
	o, err := l.from.Get(l.ctx, ref)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return o, err
}

// digestOf identifies an undo: the saved bytes and the planned steps.
func digestOf(b *Backup, p *undo.Plan, id kube.Identity, proof report.ClusterProof) string {
	h := sha256.New()
	write := func(values ...any) {
		for _, v := range values {
			text := fmt.Sprint(v)
			fmt.Fprintf(h, "%d:%s,", len(text), text)
		}
		fmt.Fprintln(h)
	}
	write("undo v2", b.Head.Cluster.UID, b.Head.PlanDigest, b.Head.Created.UTC().UnixNano())
	// If the backup does not show its cluster, a later run needs the same assumption.
	write("cluster", id.ClusterUID, proof == report.ProofAssumed || proof == report.ProofJustSaved)
	for i := range b.Entries {
		write("entry", b.Entries[i].Object, b.Entries[i].Object.UID, b.Entries[i].SHA256)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		write("step", s.Verb, s.Object, s.Object.UID)
		for _, r := range s.References {
			write("owner", r.APIVersion, r.Kind, r.Name, r.UID, r.Made)
		}
		for _, name := range s.Secrets {
			write("secret", name)
		}
		if live := s.Live(); live != nil {
			write("live", live.UID, live.ResourceVersion)
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
