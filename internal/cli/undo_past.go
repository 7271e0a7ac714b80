package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
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

// ofPast reports whether an undo is of what the API server remembers, and of no backup.
func (u *undoing) ofPast(c *cobra.Command) bool {
	return u.lost || c.Flags().Changed("since") || u.sinceRevision > 0 || !u.source.Live()
}

// bringBack undoes what was lost. What is remembered is forgotten in minutes: a backup of it is
// made before anything else. Of CRDs that are gone the API server shows the objects once they are
// back, so that they come first, by an undo of their own.
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
	k := &keeping{undoing: u, c: c, client: client, record: record, named: named, living: &living{Client: client, c: c, streams: u.streams}}
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
		return k.restoreAll(nil, which, nil)
	}
	gone, back, others := lost.Definitions(k.account, which)
	if len(gone) == 0 {
		return k.restoreAll(back, others, nil)
	}
	saved, err := k.keep(backup.Losses{Which: others, Kinds: lost.Kinds(k.account, gone)})
	if err != nil {
		return err
	}
	later := lost.Later(k.account, gone, k.question)
	later.Dependents = k.living.ofKinds
	if done, err := k.restore(backup.Losses{Which: gone}, later); err != nil || !done {
		return err
	}
	earlier, err := backup.Open(saved, nil)
	if err != nil {
		return err
	}
	defer func() { _ = earlier.Close() }() // it was only read
	return k.restoreAll(append(back, gone...), nil, earlier)
}

// record is what remembers what is undone: the cluster itself, or a file.
func (u *undoing) record(c *cobra.Command, client *kube.Client) (*source.Record, error) {
	if u.source.Live() {
		return source.RecordOf(c.Context(), client)
	}
	return u.source.OpenRecord(c, u.streams, nil)
}

// keeping is an undo of what a record remembers.
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
}

// restoreAll restores losses, what went with CRDs that are back, and what an earlier backup has.
func (k *keeping) restoreAll(crds, which []int, earlier *backup.Backup) error {
	l := backup.Losses{Which: which, Earlier: earlier}
	owners := map[types.UID]bool{}
	for _, of := range lost.Instances(k.account, crds, k.question) {
		uids, err := k.instances(of)
		if err != nil {
			fmt.Fprintf(k.streams.ErrOut, "warning: the objects of %s that went with its CRD are not known: %s\n", render.Escape(of.Kind), render.Escape(err.Error()))
			continue
		}
		maps.Copy(owners, uids)
		if len(uids) > 0 {
			l.Whole = append(l.Whole, of)
		}
	}
	if l.Which = lost.Below(k.account, which, owners, k.question.Namespace); len(l.Which)+len(l.Whole) == 0 && earlier == nil {
		return k.show(k.c, k.nothing())
	}
	_, err := k.restore(l, nil)
	return err
}

// servedWithin is how long a server may take to serve what a CRD defines that was just made.
const servedWithin = 30 * time.Second

// instances are the uids of a collection of the past, of a kind that is served again.
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

// restore makes a backup of losses, and undoes it.
func (k *keeping) restore(l backup.Losses, later *report.LaterUndo) (done bool, err error) {
	path, err := k.keep(l)
	if err != nil {
		return false, err
	}
	args := []string{path}
	if k.backups == "" {
		args = []string{filepath.Base(path)}
	}
	return k.undoing.restore(k.c, k.client, &restoring{id: k.id, args: args, path: path, justSaved: k.record.Live, tell: func(d *report.Undo) {
		d.Lost, d.Later = lost.Document(k.account, k.question), later
	}})
}

// keep makes a backup of losses.
func (k *keeping) keep(l backup.Losses) (string, error) {
	defer progress.Begin(k.c, k.streams.ErrOut, "saving what is remembered").End()
	dir, err := k.backups.Path()
	if err != nil {
		return "", err
	}
	head := backup.Head{
		Tool: version.String(), Created: time.Now(), Secrets: true,
		Cluster: backup.Cluster{UID: k.question.Source.ClusterUID, Server: k.question.Source.Server},
	}
	head.Witnesses = k.witnesses(l)
	l.Account, l.Living = k.account, k.living
	path, err := backup.KeepLost(k.c.Context(), k.record, dir, head, l)
	if err != nil {
		return "", fmt.Errorf("saving what was lost, before it is forgotten: %w", err)
	}
	return path, nil
}

// nothing is the answer where there is nothing to bring back.
func (k *keeping) nothing() *report.Undo {
	return &report.Undo{
		APIVersion: report.APIVersion, Kind: "Undo", Source: k.question.Source,
		Steps: []report.UndoStep{}, Skipped: []report.UndoSkip{}, Lost: lost.Document(k.account, k.question), Older: k.older(),
	}
}

// older is what could be brought back that was deleted before the time that was asked for. It is nil
// where there is nothing, or where that cannot be read.
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
