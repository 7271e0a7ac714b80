package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/exit"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/progress"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/source"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/version"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/lost"
	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// ofPast reports whether an undo uses the recorded past instead of a backup.
func (u *undoing) ofPast(c *cobra.Command) bool {
	return u.lost || c.Flags().Changed("since") || u.sinceRevision > 0 || !u.source.Live()
}

// bringBack undoes losses of the recorded past. It first makes a backup, because the server forgets
// them within minutes. CRDs are restored first, by an undo of their own: the API server shows their
// deleted objects only after that.
func (u *undoing) bringBack(c *cobra.Command, args []string) error {
	named, err := namedObjects(c, args)
	if err != nil {
		return err
	}
	if err := u.lookBack.check(c, args); err != nil {
		return err
	}
	client, err := (&source.Source{Cluster: u.source.Cluster}).Open(c, &u.namespaces)
	if err != nil {
		return err
	}
	defer client.Close()
	record, err := u.record(c, client)
	if err != nil {
		return err
	}
	defer record.Close()
	k := &keeping{undoing: u, c: c, client: client, record: record, named: named, living: &living{Client: client, c: c, streams: u.streams, cluster: &u.source.Cluster}}
	if k.id, err = client.Identity(c.Context()); err != nil {
		return err
	}
	if k.account, k.question, err = u.trace(c, record, named); err != nil {
		return err
	}
	k.living.namespace = k.question.Namespace
	if u.since > 0 && k.account.Past.Timeless {
		return exit.Refusedf("--since=%s: %s.\nAs far back as is remembered: --lost. What is newer than a revision that kubectl gc lost shows: --since-revision=REVISION",
			u.since, render.SinceIgnored(lost.Document(k.account, k.question)))
	}
	which := lost.Restorable(k.account, k.question)
	if !record.Live { // it shows the objects of CRDs that are gone, too
		return k.restoreAll(backup.Losses{Which: which})
	}
	gone, back, others := lost.Definitions(k.account, which)
	l, err := k.withInstances(others, back)
	if err != nil {
		return err
	}
	if len(gone) == 0 {
		return k.restoreAll(l)
	}
	return k.definitionsFirst(gone, l)
}

// definitionsFirst restores CRDs, and then the rest with their instances. It saves the rest before,
// because the server may forget it while the first plan is being confirmed.
func (k *keeping) definitionsFirst(crds []int, rest backup.Losses) error {
	rest.Kinds = lost.Kinds(k.account, crds)
	saved, err := k.keep(rest)
	if err != nil {
		return err
	}
	later := lost.Later(k.account, crds, k.question)
	later.Dependents = saved.OfKinds
	if saved.Objects > 0 {
		later.Saved = k.backups.NameOf(saved.Path)
	}
	if done, err := k.restore(backup.Losses{Which: crds}, later); err != nil || !done {
		return err
	}
	earlier, err := backup.Open(saved.Path, nil)
	if err != nil {
		return err
	}
	defer func() { _ = earlier.Close() }() // it was only read
	l, err := k.withInstances(nil, crds)
	if err != nil {
		return err
	}
	l.Earlier = earlier
	return k.restoreAll(l)
}

// record returns the record to undo: the cluster itself, or a file.
func (u *undoing) record(c *cobra.Command, client *kube.Client) (*source.Record, error) {
	if u.source.Live() {
		return source.RecordOf(c.Context(), client)
	}
	return u.source.OpenRecord(c, u.streams, nil)
}

// keeping is an undo of a recorded past.
type keeping struct {
	*undoing
	c        *cobra.Command
	client   *kube.Client
	id       kube.Identity
	record   *source.Record
	living   *living
	named    lostNames
	account  *history.Account
	question lost.Question
	// unknown reports that the instances of a restored CRD are unknown.
	unknown bool
}

// withInstances returns losses with the instances of CRDs that are served. If the record does not
// have the instances, it warns and the undo is incomplete.
func (k *keeping) withInstances(which, crds []int) (backup.Losses, error) {
	l := backup.Losses{}
	owners := map[types.UID]bool{}
	for _, of := range lost.Instances(k.account, crds, k.question) {
		uids, err := k.instances(of)
		if ended := k.c.Context().Err(); ended != nil {
			return l, ended
		}
		if err != nil {
			k.unknown = true
			fmt.Fprintf(k.streams.ErrOut, "warning: the objects of %s that went with its CRD are not known: %s\n", render.Escape(of.Kind), render.Escape(err.Error()))
			continue
		}
		maps.Copy(owners, uids)
		if len(uids) > 0 {
			l.Whole = append(l.Whole, of)
		}
	}
	l.Which = lost.Below(k.account, which, owners, k.question.Namespace)
	return l, nil
}

// restoreAll restores losses, if there are any.
func (k *keeping) restoreAll(l backup.Losses) error {
	if len(l.Which)+len(l.Whole) == 0 && l.Earlier == nil {
		nothing := k.nothing()
		if err := k.show(k.c, nothing); err != nil || !nothing.Lost.Short {
			return err
		}
		return k.incomplete(exit.Incomplete, "the history of the cluster does not reach back as far as was asked for")
	}
	done, err := k.restore(l, nil)
	if err == nil && done && k.unknown && !k.confirm.OnlyShows() {
		return &exit.Error{Code: exit.Partial, Message: "not everything is known that went with a CRD: see the warning"}
	}
	return err
}

// servedWithin is how long a server may take to serve a new CRD.
const servedWithin = 30 * time.Second

// instances returns the UIDs of a collection of the past. It waits until the kind is served again.
func (k *keeping) instances(of history.Collection) (map[types.UID]bool, error) {
	uids := map[types.UID]bool{}
	for until := time.Now().Add(servedWithin); ; {
		err := k.record.Bodies(k.c.Context(), of, func(raw []byte) error {
			var m metav1.PartialObjectMetadata
			err := json.Unmarshal(raw, &m)
			uids[m.UID] = true
			return err
		})
		if err == nil || kube.Forgotten(err) || time.Now().After(until) || !wait(k.c.Context(), time.Second) {
			return uids, err
		}
		if _, err := k.client.Discover(k.c.Context()); err != nil {
			return nil, err
		}
	}
}

// restore makes a backup of losses and undoes it.
func (k *keeping) restore(l backup.Losses, later *report.LaterUndo) (done bool, err error) {
	saved, err := k.keep(l)
	if err != nil {
		return false, err
	}
	return k.undoing.restore(k.c, k.client, &restoring{id: k.id, args: []string{k.backups.NameOf(saved.Path)}, path: saved.Path, justSaved: k.record.Live, tell: func(d *report.Undo) {
		d.Lost, d.Later = lost.Document(k.account, k.question), later
		d.CutOff = lost.CutOff(k.account, l.Which)
	}})
}

// keep makes a backup of losses.
func (k *keeping) keep(l backup.Losses) (backup.Kept, error) {
	defer progress.Begin(k.c, k.streams.ErrOut, "saving what is remembered").End()
	dir, err := k.backups.Path()
	if err != nil {
		return backup.Kept{}, err
	}
	head := backup.Head{
		Tool: version.String(), Created: time.Now(), Secrets: true,
		Cluster: backup.Cluster{UID: k.question.Source.ClusterUID, Server: k.question.Source.Server},
	}
	head.Witnesses = k.witnesses(l)
	l.Account, l.Living = k.account, k.living
	saved, err := backup.KeepLost(k.c.Context(), k.record, dir, head, l)
	switch {
	case err != nil:
		return saved, fmt.Errorf("saving what was lost, before it is forgotten: %w", err)
	case saved.Unknown != nil:
		fmt.Fprintf(k.streams.ErrOut, "warning: what still refers to what is restored may keep the old uid, and then the garbage collector deletes it: %s\n", render.Escape(saved.Unknown.Error()))
	}
	return saved, nil
}

// nothing returns the answer without any losses.
func (k *keeping) nothing() *report.Undo {
	return &report.Undo{
		APIVersion: report.APIVersion, Kind: "Undo", Source: k.question.Source,
		Steps: []report.UndoStep{}, Skipped: []report.UndoSkip{}, Lost: lost.Document(k.account, k.question), Older: k.older(),
	}
}

// older returns the restorable losses before the given time span. It is nil if there are none or
// they can't be read.
func (k *keeping) older() *report.OlderLosses {
	if k.since == 0 && k.sinceRevision == 0 {
		return nil
	}
	all := k.lookBack
	all.since, all.sinceRevision = 0, 0
	account, q, err := all.trace(k.c, k.record, k.named)
	if err != nil {
		return nil
	}
	return lost.Older(account, q)
}
