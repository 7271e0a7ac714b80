package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// affectsPlan reports for each difference between releases whether it affects a plan. Since 1.34 a
// server deletes only the version that its collector has looked at. This is left out, because it
// decides only races. Other changes show in the objects, by their finalizers and references.
var affectsPlan = map[release.Rule]func(s *simulation, p *report.Plan) bool{
	release.UpdatesWithoutNamespace: (*simulation).updatesWithoutNamespace,
	release.OrderedNamespaces:       (*simulation).emptiesNamespace,
	release.TokensStayDeleted:       (*simulation).deletesToken,
	release.OwnersByPlace:           func(_ *simulation, p *report.Plan) bool { return hasReason(p, reason.OwnerMisnamed) },
}

// versionDifferences returns the differences between releases that affect a plan.
func (s *simulation) versionDifferences(p *report.Plan) []report.VersionDifference {
	var list []report.VersionDifference
	for _, d := range release.Differences {
		if concern := affectsPlan[d.Rule]; concern != nil && s.snap.Version().MayLack(d.Rule) && concern(s, p) {
			list = append(list, differenceIn(s.snap, d))
		}
	}
	return list
}

// differenceIn returns a difference in the form of a document about a snapshot.
func differenceIn(snap *snapshot.Snapshot, d release.Difference) report.VersionDifference {
	return report.VersionDifference{Reason: d.Said.String(), Before: d.Since.String(), Simulated: !snap.Version().Doubts(d.Rule)}
}

// DifferenceOf returns the differences in how the cluster's release may treat an object, whichever
// object is deleted.
func DifferenceOf(snap *snapshot.Snapshot, o *object.Object) []report.VersionDifference {
	if len(outcome.OwnersMisplaced(snap, o)) == 0 {
		return nil
	}
	return []report.VersionDifference{differenceIn(snap, release.DifferenceOf(release.OwnersByPlace))}
}

func hasReason(p *report.Plan, code reason.Code) bool {
	return slices.ContainsFunc(p.Effects, func(e report.Effect) bool { return e.Reason == code.String() })
}

// emptiesNamespace reports whether a namespace is deleted, or being deleted, that contains pods and
// other objects.
func (*simulation) emptiesNamespace(p *report.Plan) bool {
	type content struct{ ends, pods, others bool }
	namespaces := map[string]content{}
	for i := range p.Effects {
		e := &p.Effects[i]
		if e.Object.Is(object.Namespace) {
			c := namespaces[e.Object.Name]
			c.ends = e.Outcome != report.Kept
			namespaces[e.Object.Name] = c
			continue
		}
		c := namespaces[e.Object.Namespace]
		c.pods = c.pods || e.Object.Is(object.Pod)
		c.others = c.others || !e.Object.Is(object.Pod)
		namespaces[e.Object.Namespace] = c
	}
	for _, c := range namespaces {
		if c.ends && c.pods && c.others {
			return true
		}
	}
	return false
}

// updatesWithoutNamespace reports whether an object stays in a namespace that is known not to
// exist.
func (s *simulation) updatesWithoutNamespace(p *report.Plan) bool {
	if !s.snap.Covers(object.Namespace.Resource(), "") {
		return false
	}
	return slices.ContainsFunc(p.Effects, func(e report.Effect) bool {
		return e.Outcome != report.Deleted && e.Object.Namespace != "" && s.snap.FindKind(object.Namespace, "", e.Object.Namespace) == nil
	})
}

// deletesToken reports whether a token is deleted although its ServiceAccount stays.
func (s *simulation) deletesToken(p *report.Plan) bool {
	gone := map[[2]string]bool{}
	for i := range p.Effects {
		if e := &p.Effects[i]; e.Object.Is(object.ServiceAccount) && e.Outcome == report.Deleted {
			gone[[2]string{e.Object.Namespace, e.Object.Name}] = true
		}
	}
	return slices.ContainsFunc(p.Effects, func(e report.Effect) bool {
		if !e.Object.Is(object.Secret) || e.Outcome != report.Deleted {
			return false
		}
		o := s.snap.Find(e.Object.APIVersion, e.Object.Kind, e.Object.Namespace, e.Object.Name)
		if o == nil || o.Token() == nil {
			return false
		}
		account := o.Token().Account
		return !gone[[2]string{o.Namespace, account}] && s.snap.FindKind(object.ServiceAccount, o.Namespace, account) != nil
	})
}
