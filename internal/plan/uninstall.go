package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Uninstall is what `helm uninstall` does with a release: its deletes in their order. For a release web
// with two revisions, a hook and a Service:
//
//	preDelete   job/cleanup      left from an earlier run; Helm creates it again and waits for it
//	objects     svc/web
//	postDelete
//	records     secret/sh.helm.release.v1.web.v1, …v2
//
// Source: helm v4.3, pkg/action/uninstall.go Uninstall.Run. Helm 3 and Helm before 4.3 also delete
// objects without the label of Helm.
type Uninstall struct {
	document report.Uninstall
	stages   [uninstallStages]uninstallStage
	// unlisted are the reasons why Helm may delete more.
	unlisted []report.Unlisted
	// unseen are the coordinates of objects that the snapshot does not show.
	unseen []unseenObject
}

const (
	preDelete = iota
	releaseObjects
	postDelete
	releaseRecords
	uninstallStages
)

// podKinds are the kinds of hooks that run pods.
var podKinds = []string{"Pod", "Job", "CronJob", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet"}

// uninstallStage is a list of deletes.
type uninstallStage struct {
	targets []object.Ref
	policy  engine.Policy
	// ends is true if Helm gives up after a stage with a refused delete.
	ends bool
}

// unseenObject is the place of an object that the snapshot does not show.
type unseenObject struct {
	resource  object.Resource
	namespace string
}

// UninstallSeed returns the request of `helm uninstall` for a release with these records. Their order is
// that of the revisions, and facts are those of the last one; nil if they could not be read.
// It returns an error if Helm would not delete anything.
func UninstallSeed(snap *snapshot.Snapshot, policy engine.Policy, records []*object.Object, facts *object.HelmReleaseFacts, keepHistory bool) (Seed, error) {
	newest := records[len(records)-1]
	name, revision, _ := object.HelmRecordOf(newest)
	u := &Uninstall{
		document: report.Uninstall{Release: name, Namespace: newest.Namespace, Revision: revision, Record: newest.Ref, KeepHistory: keepHistory},
		stages:   [uninstallStages]uninstallStage{preDelete: {ends: true}, releaseObjects: {policy: policy, ends: true}},
	}
	u.document.Command = "helm uninstall " + name + " -n " + newest.Namespace + u.flags(policy)
	if newest.Is(object.ConfigMap) {
		u.document.Command = "HELM_DRIVER=configmap " + u.document.Command
	}
	switch {
	case facts == nil:
		u.addUnlisted(reason.InventoryUnknown, "the data of this record are not in the snapshot")
	case facts.Unread != "":
		u.addUnlisted(reason.InventoryUnknown, facts.Unread)
	default:
		if err := u.add(snap, facts); err != nil {
			return Seed{}, err
		}
	}
	for _, o := range records {
		if keepHistory {
			u.keep(o.Ref, "--keep-history")
		} else {
			u.stages[releaseRecords].targets = append(u.stages[releaseRecords].targets, o.Ref)
		}
	}
	seed := Seed{Verb: Delete, Policy: policy, Uninstall: u}
	for i := range u.stages {
		for _, ref := range u.stages[i].targets {
			if !slices.Contains(seed.Targets, ref) {
				seed.Targets = append(seed.Targets, ref)
			}
		}
	}
	return seed, nil
}

// flags returns the flags of helm uninstall, each after a space.
func (u *Uninstall) flags(policy engine.Policy) (flags string) {
	if policy != engine.Background {
		flags = " --cascade=" + strings.ToLower(policy.String())
	}
	if u.document.KeepHistory {
		flags += " --keep-history"
	}
	return flags
}

// add adds what the record of the newest revision says. Helm takes it whatever its status is.
func (u *Uninstall) add(snap *snapshot.Snapshot, facts *object.HelmReleaseFacts) error {
	d := &u.document
	d.Status, d.Chart = facts.Status, facts.Chart
	if facts.Status == "uninstalled" { // only its records are left
		if d.KeepHistory {
			return fmt.Errorf("helm release %s is uninstalled already", d.Release)
		}
		return nil
	}
	d.CRDs = facts.CRDs
	var unserved []string
	for i := range facts.Objects {
		o := &facts.Objects[i]
		if !o.Keeps && snap.Unserves(o.APIVersion, o.Kind) {
			unserved = append(unserved, o.Kind+" of "+o.APIVersion)
		}
	}
	if len(unserved) > 0 {
		slices.Sort(unserved)
		return fmt.Errorf("helm uninstall %s would fail before it deletes anything: its manifest has %s, which the cluster does not serve",
			d.Release, strings.Join(slices.Compact(unserved), " and "))
	}
	for i := range facts.Hooks {
		u.addHook(snap, &facts.Hooks[i])
	}
	var unlabelled []string
	for i := range facts.Objects {
		o := &facts.Objects[i]
		switch at := u.find(snap, o); {
		case at == nil:
		case o.Keeps:
			u.keep(at.Ref, "its manifest has "+object.ResourcePolicyAnnotation)
		case at.Labels.Get("app.kubernetes.io/managed-by") != "Helm":
			u.keep(at.Ref, "no label app.kubernetes.io/managed-by=Helm; before 4.3 Helm deletes it")
			unlabelled = append(unlabelled, at.Ref.ShortName())
		default:
			u.stages[releaseObjects].targets = append(u.stages[releaseObjects].targets, at.Ref)
		}
	}
	if len(unlabelled) > 0 { // which Helm uninstalls is unknown
		u.addUnlisted(reason.InventoryUnknown, "before 4.3 it also deletes "+strings.Join(unlabelled, ", "))
	}
	return nil
}

// addHook adds a hook. Helm deletes what is left of a hook before it creates it again, or afterwards,
// depending on its policies. What the pods of a hook do is unknown.
//
// Source: helm, pkg/action/hooks.go execHook, deleteHookByPolicy: never deletes a CRD.
func (u *Uninstall) addHook(snap *snapshot.Snapshot, h *object.HelmHook) {
	before, after := slices.Contains(h.Events, "pre-delete"), slices.Contains(h.Events, "post-delete")
	at := u.find(snap, &h.HelmObject)
	if !before && !after {
		if at != nil {
			u.keep(at.Ref, "a hook has created it ("+strings.Join(h.Events, ", ")+")")
		}
		return
	}
	ref := object.Ref{APIVersion: h.APIVersion, Kind: h.Kind, Namespace: cmp.Or(h.Namespace, u.document.Namespace), Name: h.Name}
	r, err := snap.Resources.For(h.APIVersion, h.Kind)
	if err == nil && !r.Namespaced {
		ref.Namespace = ""
	}
	if h.Kind != object.CRD.Kind && at != nil && (h.Deletes("before-hook-creation") || h.Deletes("hook-succeeded")) {
		stage := &u.stages[postDelete]
		if before {
			stage = &u.stages[preDelete]
		}
		stage.targets = append(stage.targets, at.Ref)
	}
	u.document.Hooks = append(u.document.Hooks, report.HelmHook{Object: ref, Events: h.Events, DeletePolicies: h.DeletePolicies})
	switch {
	case slices.Contains(podKinds, h.Kind):
		u.addUnlisted(reason.HookUnknown, "what the pods of its hook "+ref.ShortName()+" do is unknown")
	case err != nil || r.Custom: // a Workflow of Argo, an Application
		u.addUnlisted(reason.HookUnknown, "what is done because of its hook "+ref.ShortName()+" is unknown")
	}
}

// find returns the object of a manifest in the snapshot; nil if it is not there. It records one that may
// exist.
func (u *Uninstall) find(snap *snapshot.Snapshot, o *object.HelmObject) *object.Object {
	ref, r, ok := snap.Locate(o.Coordinates(u.document.Namespace))
	if !ok {
		u.addUnlisted(reason.InventoryUnknown, "the snapshot does not show whether "+o.Kind+" "+o.Name+" exists")
		return nil
	}
	at := snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if at == nil {
		u.unseen = append(u.unseen, unseenObject{r, ref.Namespace})
	}
	return at
}

func (u *Uninstall) keep(ref object.Ref, why string) {
	if !slices.ContainsFunc(u.document.Stays, func(s report.HelmKept) bool { return s.Object == ref }) {
		u.document.Stays = append(u.document.Stays, report.HelmKept{Object: ref, Message: why})
	}
}

func (u *Uninstall) addUnlisted(code reason.Code, why string) {
	u.unlisted = append(u.unlisted, report.Unlisted{Object: u.document.Record, Controller: "Helm", Reason: string(code), Message: why})
}

// applyUninstall queues the deletes of `helm uninstall`.
func (s *simulation) applyUninstall(ctx context.Context) {
	last := uninstallStages // the last stage that Helm begins
	for i, stage := range s.seed.Uninstall.stages {
		policy := metav1.DeletionPropagation(stage.policy.String())
		for _, ref := range stage.targets {
			target := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
			s.pendingRequests = append(s.pendingRequests, func() {
				if i > last {
					return
				}
				tr := s.tracks.Of(target)
				tr.Target = true
				s.recorder.runAs(outcome.ActorUser, string(reason.Requested), func() {
					err := s.recorder.Delete(ctx, target.Ref, metav1.DeleteOptions{PropagationPolicy: &policy, GracePeriodSeconds: s.seed.Grace})
					if err == nil || apierrors.IsNotFound(err) { // it went with an earlier one
						return
					}
					if tr.Refused = err; stage.ends {
						last = i
					}
				})
			})
		}
	}
}

// addUnlistedOfUninstall adds what Helm may delete and the plan does not list. It adds to u what the
// snapshot lacks of the manifest.
func (s *simulation) addUnlistedOfUninstall(u *Unseen, p *report.Plan) {
	if s.seed.Uninstall == nil {
		return
	}
	p.Unlisted = append(p.Unlisted, s.seed.Uninstall.unlisted...)
	for _, x := range s.seed.Uninstall.unseen {
		u.Of(s.snap, x.resource, x.namespace)
	}
}
