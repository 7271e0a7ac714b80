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
	h := &digester{hash: sha256.New()}
	h.fields("v3", p.Rules, p.Seed.Verb, p.Seed.Policy, string(p.Source.ClusterUID))
	h.fields(append([]string{"guards"}, guards...)...)
	if seed.Grace != nil {
		h.fields("grace", strconv.FormatInt(*seed.Grace, 10))
	}
	h.fields(append([]string{"finalizers"}, seed.Finalizers...)...)
	touched := map[string]bool{}
	for _, t := range p.Seed.Targets {
		touched[t.Namespace] = true
		generation := int64(0)
		if o := snap.Find(t.APIVersion, t.Kind, t.Namespace, t.Name); o != nil {
			generation = o.Generation
		}
		h.fields("target", t.APIVersion, t.Kind, t.Namespace, t.Name, string(t.UID), strconv.FormatInt(generation, 10))
	}
	along := snap.Along()
	for i := range p.Consequences {
		c := &p.Consequences[i]
		if Passing(c.Object) {
			continue
		}
		if !outcome.LeadsToNothing(c.Reason) {
			touched[c.Object.Namespace] = true
		}
		h.consequence(c)
		if o := along.Find(object.Ref(c.Object)); o != nil {
			h.field("held")
			h.field(strconv.FormatBool(o.BeingDeleted()))
			h.fields(o.Finalizers()...)
			for _, ref := range o.Owners {
				h.fields("owner", string(ref.UID), ref.Kind, ref.Name)
			}
		}
	}
	for _, g := range RelevantGaps(snap, func(ns string) bool { return touched[ns] }) {
		h.fields("gap", g.APIVersion, g.Resource, g.Namespace, g.Why)
	}
	return "sha256:" + h.sum()
}

// Passing reports whether objects of the kind come and go by the minute, and hold nothing
// that anybody would miss.
func Passing(r report.Ref) bool {
	switch object.GroupOf(r.APIVersion) {
	case "", "events.k8s.io":
		return r.Kind == "Event"
	default:
		return r.Is(object.Lease)
	}
}

// consequence writes one consequence.
func (h *digester) consequence(c *report.Consequence) {
	o := c.Object
	h.fields("object", o.APIVersion, o.Kind, o.Namespace, o.Name, string(o.UID), string(c.Change), string(c.Certainty))
	if c.Certainty == report.Possible {
		return // which of its ends are found first says nothing
	}
	h.fields("expected", string(c.When), string(c.Outcome), c.Reason)
	for _, r := range c.After {
		h.fields("after", string(r.Object.UID), r.Object.Name, r.Finalizer, string(r.State))
	}
}

// digester is a hash of lists of values. No two lists look alike in it.
type digester struct {
	hash hash.Hash
	// open are the values that were not handed over yet.
	open []byte
}

// field writes a value of a list that goes on.
func (h *digester) field(v string) {
	h.open = strconv.AppendInt(h.open, int64(len(v)), 10)
	h.open = append(h.open, ':')
	h.open = append(h.open, v...)
	h.open = append(h.open, ',')
}

// fields writes values, with which a list ends.
func (h *digester) fields(values ...string) {
	for _, v := range values {
		h.field(v)
	}
	h.open = append(h.open, '\n')
	if len(h.open) >= 1<<14 {
		h.flush()
	}
}

func (h *digester) flush() {
	h.hash.Write(h.open)
	h.open = h.open[:0]
}

// sum ends it.
func (h *digester) sum() string {
	h.flush()
	return hex.EncodeToString(h.hash.Sum(nil))
}
