package diagnose

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// checker checks all references of a snapshot.
type checker struct {
	answer
	// collector and world have only the objects that references look for. unmet has those of them
	// that are still to be checked.
	collector *engine.Collector
	world     engine.World
	unmet     []*object.Object
	// fine are the last references without a finding, from an object of fineNamespace.
	fine          []object.OwnerReference
	fineNamespace string
}

// Check lists the owner references that the collector would misunderstand, or that put their
// object at risk. If the snapshot lacks an owner, that is a warning, never an error. namespace
// limits the check to the references of its objects; empty for all. With evidence in judged, it also lists
// other fields that name an object that does not exist; nil for owner references only.
func Check(ctx context.Context, snap *snapshot.Snapshot, namespace string, judged *health.Assessment) (*report.Diagnosis, error) {
	c := &checker{answer: answer{Snapshot: snap, Namespace: namespace, OfAll: true}}
	part := askedIn(snap).part(snap)
	c.collector, c.world = plan.Open(part, engine.Upstream)
	c.unmet = part.Objects
	for _, o := range snap.Objects {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found := len(c.unmet) > 0 && c.unmet[0] == o
		if found {
			c.unmet = c.unmet[1:]
		}
		if !c.wanted(o.Ref) {
			continue
		}
		c.Summary.Objects++
		c.Summary.References += len(o.Owners)
		c.object(ctx, o, found)
	}
	c.cycles()
	c.problems()
	unread := c.fields(judged)
	d := c.Document()
	d.Gaps, d.Complete = append(d.Gaps, unread...), d.Complete && len(unread) == 0
	d.Source.VersionDifferences = differences(snap, d.Findings)
	return d, nil
}

// differences returns the differences between the cluster's release and the newest one that concern
// the findings.
func differences(snap *snapshot.Snapshot, findings []report.Finding) []report.VersionDifference {
	i := slices.IndexFunc(findings, func(f report.Finding) bool {
		return f.Code == string(reason.OwnerNamespaced) || f.Code == string(reason.OwnerNamespaceMismatch)
	})
	if i < 0 {
		return nil
	}
	ref := findings[i].Object
	return plan.DifferenceOf(snap, snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name))
}

// wanted reports whether the question is about an object.
func (c *checker) wanted(ref object.Ref) bool {
	return c.Namespace == "" || ref.Namespace == c.Namespace
}

// object checks the references of one object. found reports that the object is in the reduced
// snapshot (asked.part): a lookup may return it or another object of its name, so it is looked up
// too, as the collector does. A lookup of any other object is known to return that object.
func (c *checker) object(ctx context.Context, o *object.Object, found bool) {
	if len(o.Owners) == 0 {
		return
	}
	c.list(o)
	if found {
		a := engine.Attempt{Ref: o.Ref, Observed: o}
		c.owners(o, engine.Examine(ctx, c.world, engine.Upstream, a).Owners)
		return
	}
	if object.SameOwners(c.fine, o.Owners) && c.fineNamespace == o.Namespace {
		return
	}
	before := len(c.Findings)
	c.owners(o, engine.OwnersOf(ctx, c.world, o))
	if len(c.Findings) == before {
		c.fine, c.fineNamespace = o.Owners, o.Namespace
	}
}

func (c *checker) owners(o *object.Object, facts []engine.OwnerFact) {
	for i := range facts {
		c.reference(o, &facts[i])
	}
}

// list checks the references as such, without lookups.
func (c *checker) list(o *object.Object) {
	var controllers [2]*object.OwnerReference
	for i := range o.Owners {
		ref := &o.Owners[i]
		if ref.Controller == object.True && controllers[0] == nil {
			controllers[0] = ref
		} else if ref.Controller == object.True && controllers[1] == nil {
			controllers[1] = ref
		}
		if ref.APIVersion == "" || ref.Kind == "" || ref.Name == "" || ref.UID == "" {
			c.add(reason.ReferenceIncomplete, o, ref.In(o.Namespace), "the reference has an empty field", "")
		}
		if ref.APIVersion == "v1" && ref.Kind == "Event" {
			c.add(reason.OwnerBanned, o, ref.In(o.Namespace), "an Event cannot be an owner", "")
		}
		if ref.UID == o.UID && ref.Blocks() {
			c.add(reason.SelfOwnerBlocks, o, o.Ref, "the object owns itself with blockOwnerDeletion", "")
		} else if ref.UID == o.UID {
			c.add(reason.SelfOwner, o, o.Ref, "the object owns itself", "")
		}
	}
	if controllers[1] != nil {
		c.add(reason.TwoControllers, o, controllers[1].In(o.Namespace),
			"both "+controllers[0].In("").ShortName()+" and "+controllers[1].In("").ShortName()+" are its controller", "")
	}
}

func (c *checker) add(code reason.Code, o *object.Object, ref object.Ref, message, evidence string) {
	c.Findings = append(c.Findings, report.Finding{
		Code: string(code), Severity: reason.Check.Severity(code), Object: o.Ref, Reference: &ref,
		Message: message, Evidence: evidence,
	})
}

// problems adds findings for the problems that reading the snapshot has shown.
func (c *checker) problems() {
	for _, p := range c.Snapshot.Problems {
		code := reason.Code("")
		switch p.Kind {
		case snapshot.DuplicateUID:
			code = reason.SharedUID
		case snapshot.NoUID:
			code = reason.NoUID
		default:
			continue
		}
		if !c.wanted(p.Object) {
			continue
		}
		c.Findings = append(c.Findings, report.Finding{
			Code: string(code), Severity: reason.Check.Severity(code), Object: p.Object, Message: p.Message,
		})
	}
}

// fields adds findings for fields that name an object that does not exist. It returns the lists that may
// hold more. judged may be nil.
func (c *checker) fields(judged *health.Assessment) []report.Gap {
	if judged == nil {
		return nil
	}
	list, count, unread := plan.Dangling(c.Snapshot, judged, c.Namespace, &c.Unseen)
	c.Summary.FieldReferences = count
	for i := range list {
		b := &list[i]
		c.Findings = append(c.Findings, report.Finding{
			Code: string(reason.ReferenceNotFound), Severity: reason.Check.Severity(reason.ReferenceNotFound), Object: b.Object, Reference: &b.Reference,
			Message: b.Reference.ShortName() + " (" + b.Label + ") does not exist: " + b.Message, Evidence: b.Field,
		})
	}
	return unread
}

// cycles lists the objects of each reference cycle once, under its first member.
func (c *checker) cycles() {
	g := c.collector.Graph()
	for _, members := range g.Cycles() {
		if len(members) < 2 || !c.wanted(g.Identity(members[0])) {
			continue
		}
		uids := map[types.UID]bool{}
		names := make([]string, len(members))
		for i, id := range members {
			uids[g.Identity(id).UID] = true
			names[i] = g.Identity(id).ShortName()
		}
		blocking := true
		for _, id := range members {
			for _, ref := range g.Owners(id) {
				blocking = blocking && (!uids[ref.UID] || ref.Blocks())
			}
		}
		code := reason.OwnerCycle
		if blocking {
			code = reason.OwnerCycleBlocks
		}
		const most = 8
		if len(names) > most {
			names = append(names[:most], "…")
		}
		first, second := g.Object(members[0]), g.Identity(members[1])
		c.add(code, first, second, "these objects own one another: "+strings.Join(names, ", "), "")
	}
}

// asked has the uids and names that the owner references of a snapshot look for. An object with none
// of them owns nothing, as most objects do: no lookup finds it, and it is in no cycle.
type asked struct {
	uids  map[types.UID]struct{}
	names map[string]struct{}
}

// askedIn collects the uids and names in all owner references. It adds the names of objects that are
// not plain (plainResource), because a lookup of these may fail or find another object.
func askedIn(snap *snapshot.Snapshot) asked {
	a := asked{uids: map[types.UID]struct{}{}, names: map[string]struct{}{}}
	var before []object.OwnerReference
	for kind := range snap.ByKind() {
		r, plain := plainResource(snap, kind[0])
		for _, o := range kind {
			if !plain || r.Namespaced != (o.Namespace != "") {
				a.names[o.Name] = struct{}{}
			}
			if object.SameOwners(before, o.Owners) {
				continue
			}
			before = o.Owners
			for _, ref := range o.Owners {
				a.uids[ref.UID], a.names[ref.Name] = struct{}{}, struct{}{}
			}
		}
	}
	return a
}

// part returns the snapshot reduced to the objects that may be found.
func (a asked) part(snap *snapshot.Snapshot) *snapshot.Snapshot {
	var found []*object.Object
	for _, o := range snap.Objects {
		_, named := a.names[o.Name]
		if _, ok := a.uids[o.UID]; ok || named {
			found = append(found, o)
		}
	}
	return snap.With(found)
}

// plainResource returns the resource of an object, and whether objects of its kind are plain if their
// scope is that of the resource: the kind can be read with GET, and is served and stored in the version
// of the object. A lookup of a plain object finds the object itself, unless one that is not plain has the
// same name. Two plain objects of a snapshot never have the same coordinates.
func plainResource(snap *snapshot.Snapshot, o *object.Object) (object.Resource, bool) {
	r, err := snap.Resources.For(o.APIVersion, o.Kind)
	if err != nil || !r.Verbs.Has(object.Get) {
		return r, false
	}
	stored, ok := snap.Resources.Stored(r.GroupResource())
	return r, ok && stored.GroupResource() == r.GroupResource() && stored.APIVersion() == o.APIVersion && stored.Kind == o.Kind
}
