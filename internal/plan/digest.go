package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// digest identifies what a run does: what is asked for, the flags that weaken a guard,
// the account, and what was not seen where its objects are. Of a target its generation
// is in it, which counts the changes of its spec. Versions are not: every request is
// pinned to the one that is read right before, and of what decides about deletion the
// account says what comes of it. So a status that changes, an Event or a Lease is no
// reason to look at a plan again.
func digest(snap *snapshot.Snapshot, seed Seed, guards []string, p *report.Plan) string {
	h := sha256.New()
	fields(h, "v3", p.Rules, p.Seed.Verb, p.Seed.Policy, string(p.Source.ClusterUID))
	fields(h, append([]string{"guards"}, guards...)...)
	if seed.Grace != nil {
		fields(h, "grace", strconv.FormatInt(*seed.Grace, 10))
	}
	fields(h, append([]string{"finalizers"}, seed.Finalizers...)...)
	touched := map[string]bool{}
	for _, t := range p.Seed.Targets {
		touched[t.Namespace] = true
		generation := int64(0)
		if o := snap.Find(t.APIVersion, t.Kind, t.Namespace, t.Name); o != nil {
			generation = o.Generation
		}
		fields(h, "target", t.APIVersion, t.Kind, t.Namespace, t.Name, string(t.UID), strconv.FormatInt(generation, 10))
	}
	for i := range p.Consequences {
		c := &p.Consequences[i]
		if passing(c.Object) {
			continue
		}
		if !outcome.StaysReleased(c.Reason) {
			touched[c.Object.Namespace] = true
		}
		identify(h, c)
		if o := snap.Find(c.Object.APIVersion, c.Object.Kind, c.Object.Namespace, c.Object.Name); o != nil {
			fields(h, append([]string{"held", strconv.FormatBool(o.BeingDeleted())}, o.Finalizers()...)...)
			for _, ref := range o.Owners {
				fields(h, "owner", string(ref.UID), ref.Kind, ref.Name)
			}
		}
	}
	for _, g := range RelevantGaps(snap, func(ns string) bool { return touched[ns] }) {
		fields(h, "gap", g.APIVersion, g.Resource, g.Namespace, g.Why)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// passing reports whether objects of the kind come and go by the minute, and hold nothing
// that anybody would miss.
func passing(r report.Ref) bool {
	switch object.GroupOf(r.APIVersion) {
	case "", "events.k8s.io":
		return r.Kind == "Event"
	default:
		return r.Is(object.Lease)
	}
}

// identify writes one consequence.
func identify(h hash.Hash, c *report.Consequence) {
	o := c.Object
	fields(h, "object", o.APIVersion, o.Kind, o.Namespace, o.Name, string(o.UID), string(c.Change), string(c.Certainty))
	if c.Certainty == report.Possible {
		return // which of its ends are found first says nothing
	}
	fields(h, "expected", string(c.When), string(c.Outcome), c.Reason)
	for _, r := range c.After {
		fields(h, "after", string(r.Object.UID), r.Object.Name, r.Finalizer, string(r.State))
	}
}

// fields writes values so that no two lists of values look alike.
func fields(h hash.Hash, values ...string) {
	var line [512]byte
	b := line[:0]
	for _, v := range values {
		b = strconv.AppendInt(b, int64(len(v)), 10)
		b = append(b, ':')
		b = append(b, v...)
		b = append(b, ',')
	}
	h.Write(append(b, '\n'))
}
