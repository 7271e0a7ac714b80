package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
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
	again, err := createdEarlier(ctx, client, dir, o.Reading)
	if err != nil {
		return nil, err
	}
	saved, err := savedIn(b, o.Restoring)
	if err != nil {
		return nil, err
	}
	look := lookupIn(ctx, client.Proven(kube.ProofOptions{}).Present(ctx, undo.Objects(saved)))
	now := clusterOf(ctx, client, look)
	now.AcceptRecreatedOwners = b.Head.Command == LostCommand // the user who deleted an owner may have recreated it
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

// lookupIn returns a function that reads objects from the cluster. It reports an object as absent
// only if that is proven.
func lookupIn(ctx context.Context, from interface {
	Get(ctx context.Context, ref object.Ref) (*object.Object, error)
	Resource(apiVersion, kind string) (object.Resource, error)
}) undo.Lookup {
	return func(ref object.Ref) (*object.Object, error) {
		if r, err := from.Resource(ref.APIVersion, ref.Kind); err == nil && !r.Namespaced {
			ref.Namespace = ""
		}
		o, err := from.Get(ctx, ref)
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return o, err
	}
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
func sameCluster(b *Backup, id kube.Identity, look undo.Lookup, plan *undo.Plan, o UndoPlanOptions) (report.ClusterProof, error) {
	err := b.CheckCluster(id.ClusterUID)
	switch {
	case err == nil:
		return report.ProofClusterUID, nil
	case !errors.Is(err, ErrUnknownCluster):
		return "", err
	}
	for _, w := range b.Head.Witnesses {
		if live, err := look(w); err == nil && live != nil && live.UID == w.UID {
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

// document converts a plan to its report.
func document(p *undo.Plan, values shownValues) *report.Undo {
	out := &report.Undo{
		Header: report.HeaderOf("Undo"),
		Steps:  make([]report.UndoStep, len(p.Steps)), Skipped: make([]report.UndoSkip, len(p.Skipped)),
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		d := report.UndoStep{
			N: s.N, Verb: string(s.Verb), Object: s.Object, State: report.StepPlanned,
			Dropped: dropped(s.Object, s.Dropped), Differences: values.differences(s.Object, s.Differences),
		}
		for _, r := range s.References {
			d.References = append(d.References, ownerOf(s.Object, r.OwnerReference))
		}
		describe(s, &d)
		out.Steps[i] = d
	}
	for i := range p.Skipped {
		s := &p.Skipped[i]
		out.Skipped[i] = report.UndoSkip{
			Object: s.Object, Reason: string(s.Reason), UID: s.Live, Dropped: dropped(s.Object, s.Dropped), Differences: values.differences(s.Object, s.Differences), Message: reason.UndoSkip.Short(s.Reason),
		}
		if s.Detail != "" {
			out.Skipped[i].Message += ": " + s.Detail
		}
	}
	count(out)
	return out
}

// describe fills in the changes, the stripped fields and the notes of a step.
func describe(s *undo.Step, d *report.UndoStep) {
	d.Changes, d.Notes = changesOf(s), nil
	d.Stripped = object.Mapped(s.Stripped, func(x undo.Stripped) string { return x.Field })
	for _, n := range s.Notes {
		note := report.UndoNote{Reason: string(n), Message: reason.UndoNote.Short(n)}
		if volume, claim, ok := s.Volume(); ok && isOfVolume(n) {
			note.Volume = &volume
			if n == reason.VolumeReleased {
				release := report.Act{
					Action: report.SendPatch, Target: volume,
					Patch: `[{"op":"test","path":"/spec/claimRef/uid","value":"` + string(claim) + `"},{"op":"remove","path":"/spec/claimRef/uid"}]`,
				}.Remedy("lets the volume be bound to the new PVC")
				note.Release = &release
			}
		}
		if n == reason.SecretsAdded {
			note.Message += ": " + strings.Join(s.Secrets, ", ")
		}
		d.Notes = append(d.Notes, note)
	}
}

// changesOf returns what a step does not write as it was saved.
func changesOf(s *undo.Step) []report.UndoChange {
	var all []report.UndoChange
	add := func(field string, why reason.Code, detail string) {
		c := report.UndoChange{Field: field, Reason: string(why), Message: reason.UndoChange.Short(why)}
		if detail != "" {
			c.Message += ": " + detail
		}
		all = append(all, c)
	}
	for _, r := range s.References {
		if r.Made || r.Was != "" {
			add("metadata.ownerReferences", reason.OwnerHasNewUID, ownerOf(s.Object, r.OwnerReference).ShortName())
		}
	}
	for _, x := range s.Stripped {
		add(x.Field, x.Why, "")
	}
	for _, field := range s.Addresses() {
		add(field, reason.AddressTried, "")
	}
	if len(s.Secrets) > 0 {
		add("secrets", reason.SecretsAdded, strings.Join(s.Secrets, ", "))
	}
	if s.Verb == undo.Manage {
		add("metadata.managedFields", reason.ManagersRestored, "")
	}
	return all
}

func isOfVolume(n reason.Code) bool {
	return n == reason.VolumeGone || n == reason.VolumeReleased || n == reason.VolumeTaken || n == reason.VolumeUnknown
}

func dropped(of object.Ref, list []undo.Dropped) []report.DroppedReference {
	var all []report.DroppedReference
	for _, d := range list {
		all = append(all, report.DroppedReference{Owner: ownerOf(of, d.Reference), Reason: string(d.Reason), Message: reason.UndoDrop.Short(d.Reason)})
	}
	return all
}

func ownerOf(of object.Ref, r object.OwnerReference) object.Ref {
	return r.In(of.Namespace)
}

// count computes the summary.
func count(out *report.Undo) {
	sum := report.UndoSummary{Planned: len(out.Steps), Skipped: len(out.Skipped)}
	for i := range out.Steps {
		s := &out.Steps[i]
		sum.Dropped += len(s.Dropped)
		switch s.State {
		case report.StepMade:
			if sum.Made++; len(s.Differences) > 0 {
				sum.Changed++
			}
		case report.StepRestored:
			sum.Restored++
		case report.StepTaken, report.StepRefused, report.StepContended:
			sum.Failed++
		case report.StepSuperseded:
			sum.Superseded++
		case report.StepUnknown:
			sum.Unknown++
		case report.StepNotDone:
			sum.NotDone++
		case report.StepDiffers:
			sum.Differs++
		case report.StepPlanned:
		}
	}
	for i := range out.Skipped {
		sum.Dropped += len(out.Skipped[i].Dropped)
		why := reason.Code(out.Skipped[i].Reason)
		if slices.Contains(reason.NotRestored, why) {
			sum.NotRestored++
		}
		switch why {
		case reason.Forgotten:
			sum.Forgotten++
		case reason.Differs:
			sum.Differs++
		}
	}
	out.Summary = sum
}
