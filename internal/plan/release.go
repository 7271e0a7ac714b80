package plan

import (
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// difference is what releases of Kubernetes before one do otherwise than the rules, and which
// plans it concerns.
type difference struct {
	reason reason.Code
	// before is the N of 1.N, the first release that does as the rules.
	before   int
	concerns func(s *simulation, p *report.Plan) bool
}

// differences are those that are known, the newest first. That a server deletes the very
// version that its collector has looked at, since 1.34, decides races only; what else has
// changed shows in the objects, by their finalizers and references.
//
// From KEP-5080, KEP-2644 and KEP-2799, and kubernetes/kubernetes#92743, in the order of the table.
var differences = []difference{
	{reason.NamespaceUnordered, outcome.OrderedNamespaces, (*simulation).emptiesNamespace},
	{reason.VolumeAbandoned, 31, (*simulation).deletesVolumeAndClaim},
	{reason.TokenRenewed, 24, (*simulation).deletesToken},
	{reason.OwnerMisplaced, outcome.OwnersByPlace, func(_ *simulation, p *report.Plan) bool { return hasReason(p, reason.OwnerMisnamed) }},
}

// versionDifferences are those that a plan has to do with.
func (s *simulation) versionDifferences(p *report.Plan) []report.VersionDifference {
	var list []report.VersionDifference
	for _, d := range differences {
		if s.snap.Version().Lacks(d.before) && d.concerns(s, p) {
			list = append(list, report.VersionDifference{Reason: d.reason.String(), Before: release(d.before)})
		}
	}
	return list
}

// DifferenceOf is what the release of the cluster may do to an object otherwise than the rules,
// whoever is deleted.
func DifferenceOf(snap *snapshot.Snapshot, o *object.Object) []report.VersionDifference {
	if len(outcome.OwnersMisplaced(snap, o)) == 0 {
		return nil
	}
	return []report.VersionDifference{{Reason: reason.OwnerMisplaced.String(), Before: release(outcome.OwnersByPlace)}}
}

// release is v1.36 for 36; empty for 0, which is none.
func release(minor int) string {
	if minor == 0 {
		return ""
	}
	return "v1." + strconv.Itoa(minor)
}

func hasReason(p *report.Plan, code reason.Code) bool {
	return slices.ContainsFunc(p.Effects, func(e report.Effect) bool { return e.Reason == code.String() })
}

// emptiesNamespace reports whether a namespace goes or is on its way with pods and something
// else in it.
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

// deletesVolumeAndClaim reports whether a volume is to be deleted together with its claim, and
// the storage behind it with both.
func (s *simulation) deletesVolumeAndClaim(p *report.Plan) bool {
	return slices.ContainsFunc(p.Storage, func(x report.Storage) bool {
		return x.Outcome == report.Deleted && x.Claim != nil && x.Volume != nil &&
			slices.ContainsFunc(s.seed.Targets, func(t object.Ref) bool { return t.WithoutUID() == object.Ref(*x.Volume).WithoutUID() })
	})
}

// deletesToken reports whether a token goes whose ServiceAccount stays.
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
