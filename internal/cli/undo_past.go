package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// momentHint is how objects of a dump of one moment are created again. kubectl ignores their uid and
// resourceVersion, and leaves existing objects as they are.
const momentHint = "What it has and the cluster lacks: `kubectl create -f LIST`, for each list in it, such as NAMESPACE/deployments.json of kubectl cluster-info dump.\n" +
	"Leave out Events and items with ownerReferences: controllers create them, or the garbage collector deletes them.\n" +
	"What the dump lacks does not come back: Secrets and ConfigMaps, for example"

// bringBack undoes losses of the recorded past. It first makes a backup, because the server forgets
// them within minutes. CRDs are restored first, by an undo of their own: the API server shows their
// deleted objects only after that.
func (u *undoing) bringBack(c *cobra.Command, args []string) error {
	named, err := namedObjects(c, args)
	if err != nil {
		return err
	}
	if err := u.pastQuestion.check(c, args); err != nil {
		return err
	}
	if moment, ok := errors.AsType[*command.MomentError](u.source.CheckPast()); ok {
		return fmt.Errorf("%w.\n%s", moment, command.Connection(c).Text(momentHint))
	}
	client, err := (&command.Source{Cluster: u.source.Cluster}).Open(c, &u.namespaces)
	if err != nil {
		return err
	}
	defer client.Close()
	open := func() (*command.Record, error) { return u.source.OpenRecord(c, u.streams, nil) }
	if u.source.Live() {
		open = func() (*command.Record, error) { return command.RecordOf(c.Context(), client) }
	}
	record, err := open()
	if err != nil {
		return err
	}
	defer record.Close()
	k := &undoOfPast{undoing: u, c: c, client: client, record: record, named: named, dependents: &dependentReader{Client: client, c: c, streams: u.streams, cluster: &u.source.Cluster}}
	if k.id, err = client.Identity(c.Context()); err != nil {
		return err
	}
	if k.account, k.question, err = u.trace(c, record, named); err != nil {
		return err
	}
	k.dependents.namespace = k.question.Namespace
	if u.since > 0 && k.account.Past.Timeless {
		return command.Refusedf("--since=%s: %s.\nAs far back as is remembered: --lost. What is newer than a revision that %s shows: --since-revision=REVISION",
			u.since, render.SinceIgnored(past.LostDocument(k.account, k.question)), command.Connection(c).Text("`kubectl gc lost`"))
	}
	which := past.Restorable(k.account, k.question)
	if !record.Live { // it shows the objects of CRDs that are gone, too
		return k.restoreAll(backup.Losses{Which: which})
	}
	gone, back, others := past.SplitCRDs(k.account, which)
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
func (k *undoOfPast) definitionsFirst(crds []int, rest backup.Losses) error {
	rest.Kinds = past.DefinedKinds(k.account, crds)
	saved, err := k.keep(rest)
	if err != nil {
		return err
	}
	later := past.LaterUndo(k.account, crds, k.question)
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

// undoOfPast is an undo of a recorded past.
type undoOfPast struct {
	*undoing
	c          *cobra.Command
	client     *kube.Client
	id         kube.Identity
	record     *command.Record
	dependents *dependentReader
	named      lostNames
	account    *past.Account
	question   past.LostQuestion
	// unknown reports that the instances of a restored CRD are unknown.
	unknown bool
}

// withInstances returns losses with the instances of CRDs that are served. If the record does not
// have the instances, it warns and the undo is incomplete.
func (k *undoOfPast) withInstances(which, crds []int) (backup.Losses, error) {
	l := backup.Losses{}
	owners := map[types.UID]bool{}
	for _, of := range past.Instances(k.account, crds, k.question) {
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
	l.Which = past.WithDependents(k.account, which, owners, k.question.Namespace)
	return l, nil
}

// restoreAll restores losses. If there are none, it prints that, and older losses if there are any.
func (k *undoOfPast) restoreAll(l backup.Losses) error {
	if len(l.Which)+len(l.Whole) == 0 && l.Earlier == nil {
		nothing := &report.Undo{
			Header: report.HeaderOf("Undo"), Source: k.question.Source,
			Steps: []report.UndoStep{}, Skipped: []report.UndoSkip{}, Lost: past.LostDocument(k.account, k.question), Older: k.older(),
		}
		if err := k.show(k.c, nothing); err != nil || !nothing.Lost.Short {
			return err
		}
		return k.incomplete(command.Incomplete, "the history of the cluster does not reach back as far as was asked for")
	}
	done, err := k.restore(l, nil)
	if err == nil && done && k.unknown && !k.confirm.IsDryRun() {
		return &command.Exit{Code: command.Partial, Message: "not everything is known that went with a CRD: see the warning"}
	}
	return err
}

// servedWithin is how long a server may take to serve a new CRD.
const servedWithin = 30 * time.Second

// instances returns the UIDs of a collection of the past. It waits until the kind is served again.
func (k *undoOfPast) instances(of past.Collection) (map[types.UID]bool, error) {
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
func (k *undoOfPast) restore(l backup.Losses, later *report.LaterUndo) (done bool, err error) {
	saved, err := k.keep(l)
	if err != nil {
		return false, err
	}
	return k.undoing.restore(k.c, k.client, &restoring{id: k.id, args: []string{k.backups.NameOf(saved.Path)}, path: saved.Path, justSaved: k.record.Live, tell: func(d *report.Undo) {
		d.Lost, d.Later = past.LostDocument(k.account, k.question), later
		d.CutOff = past.BeganBefore(k.account, l.Which)
	}})
}

// keep makes a backup of losses.
func (k *undoOfPast) keep(l backup.Losses) (backup.Kept, error) {
	defer command.BeginStage(k.c, k.streams.ErrOut, "saving what is remembered").End()
	dir, err := k.backups.Path()
	if err != nil {
		return backup.Kept{}, err
	}
	head := backup.Head{
		Tool: command.Version(), Created: time.Now(), Secrets: true,
		Cluster: backup.Cluster{UID: k.question.Source.ClusterUID, Server: k.question.Source.Server},
	}
	head.Witnesses = k.witnesses(l)
	l.Account, l.Living = k.account, k.dependents
	saved, err := backup.KeepLost(k.c.Context(), k.record, dir, head, l)
	switch {
	case err != nil:
		return saved, fmt.Errorf("saving what was lost, before it is forgotten: %w", err)
	case saved.Unknown != nil:
		fmt.Fprintf(k.streams.ErrOut, "warning: what still refers to what is restored may keep the old uid, and then the garbage collector deletes it: %s\n", render.Escape(saved.Unknown.Error()))
	}
	if saved.Unread != nil {
		fmt.Fprintf(k.streams.ErrOut, "warning: whether a ServiceAccount or an aggregated ClusterRole was changed by what was deleted is unknown: %s\n", render.Escape(saved.Unread.Error()))
	}
	return saved, nil
}

// older returns the restorable losses before the given time span. It is nil if there are none or
// they can't be read.
func (k *undoOfPast) older() *report.OlderLosses {
	if k.since == 0 && k.sinceRevision == 0 {
		return nil
	}
	all := k.pastQuestion
	all.since, all.sinceRevision = 0, 0
	account, q, err := all.trace(k.c, k.record, k.named)
	if err != nil {
		return nil
	}
	return past.Older(account, q)
}

// dependentReader reads dependents that may still exist in a cluster while their owners are recreated.
type dependentReader struct {
	*kube.Client
	c       *cobra.Command
	streams genericiooptions.IOStreams
	cluster *command.Cluster
	// namespace is the only namespace in question; empty for all.
	namespace string
	warned    bool
}

// Dependents reads the objects that may refer to the owners. It warns of kinds that it could not
// read.
func (l *dependentReader) Dependents(_ context.Context, owners []object.Ref, kinds []schema.GroupKind) (found []object.Ref, ofKinds int, err error) {
	scope := l.scope(owners, kinds)
	snap, err := l.cluster.Read(l.c, l.Client, scope, l.streams.ErrOut)
	if err != nil {
		return nil, 0, err
	}
	l.warn(snap, len(scope.Namespaces) == 0)
	uids := object.SetOf(owners, func(ref object.Ref) types.UID { return ref.UID })
	for _, o := range snap.Objects {
		ofKind := slices.ContainsFunc(o.Owners, func(r object.OwnerReference) bool {
			return slices.Contains(kinds, schema.GroupKind{Group: object.GroupOf(r.APIVersion), Kind: r.Kind})
		})
		switch {
		case o.BeingDeleted(): // its deletion can't be stopped
			continue
		case l.namespace != "" && o.Namespace != "" && o.Namespace != l.namespace: // its owner was not asked for
			continue
		case ofKind:
			ofKinds++
		case !slices.ContainsFunc(o.Owners, func(r object.OwnerReference) bool { return uids[r.UID] }):
			continue
		}
		found = append(found, o.Ref)
	}
	return found, ofKinds, nil
}

// scope returns where dependents can be: in the namespaces of their owners, or anywhere if an owner
// is cluster-scoped.
func (l *dependentReader) scope(owners []object.Ref, kinds []schema.GroupKind) (scope kube.Scope) {
	if l.namespace != "" {
		scope.Instead = []string{l.namespace}
	}
	if len(kinds) > 0 || slices.ContainsFunc(owners, func(r object.Ref) bool { return r.Namespace == "" }) {
		return scope
	}
	for _, ref := range owners {
		scope.Namespaces = append(scope.Namespaces, ref.Namespace)
	}
	slices.Sort(scope.Namespaces)
	scope.Namespaces = slices.Compact(scope.Namespaces)
	return scope
}

// warn prints once which kinds of dependents could not be read. Cluster-scoped kinds count only
// with cluster-scoped owners, since they can't refer to a namespaced one.
func (l *dependentReader) warn(snap *snapshot.Snapshot, everywhere bool) {
	const most = 5
	var unread []string
	for _, g := range snap.Gaps {
		if g.Reason() != reason.LeftOut && (g.Namespace != "" || everywhere || g.Resource == snapshot.EveryResource) {
			unread = append(unread, g.Resource+strings.TrimSuffix("."+object.GroupOf(g.APIVersion), "."))
		}
	}
	slices.Sort(unread)
	if unread = slices.Compact(unread); len(unread) == 0 || l.warned {
		return
	}
	l.warned = true
	fmt.Fprintf(l.streams.ErrOut, "warning: cannot read %s: if objects of these types still refer to what is restored, their owner references keep the old uid, and the garbage collector deletes them\n", render.Escape(report.FirstNames(unread, most)))
}

// enoughWitnesses is the number of witnesses to look for; a later undo needs one.
const enoughWitnesses = 5

// witnesses returns objects that identify the cluster in a later undo: namespaces of the losses, or
// an object in each if namespaces can't be read. For a file they are namespaces in the file, since
// the current cluster may be another one.
func (k *undoOfPast) witnesses(l backup.Losses) []object.Ref {
	var all []object.Ref
	for _, o := range k.account.Past.Unchanged {
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
func spacesOf(account *past.Account, l backup.Losses) []string {
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
