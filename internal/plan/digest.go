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

// digest identifies what a run does: the request, the flags that weaken a guard, the account, and
// the gaps in the namespaces of its objects. It includes the generation of each target, which
// counts the changes of its spec. It excludes resource versions: every request is pinned to the
// version that is read right before it, and the account shows the result of each field that decides
// about deletion. So a changed status, an Event or a Lease does not make a reviewed plan invalid.
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
	along := snap.Cursor()
	for e := range p.Account() {
		if Passing(e.Object) {
			continue
		}
		if !outcome.LeadsToNothing(e.Reason) {
			touched[e.Object.Namespace] = true
		}
		h.consequence(e)
		if o := along.Find(e.Object); o != nil {
			h.field("held")
			h.field(strconv.FormatBool(o.BeingDeleted()))
			h.fields(o.Finalizers()...)
			for _, ref := range o.Owners {
				h.fields("owner", string(ref.UID), ref.Kind, ref.Name)
			}
		}
	}
	for _, u := range p.Unlisted {
		h.fields("unlisted", string(u.Object.UID), u.Finalizer, u.Reason, u.Message)
		for _, other := range u.Others {
			h.fields("other", string(other.UID))
		}
	}
	for _, x := range p.Outside {
		h.fields("outside", string(x.Object.UID), string(x.Outcome), x.Field, x.Value)
	}
	for _, g := range RelevantGaps(snap, func(ns string) bool { return touched[ns] }) {
		h.fields("gap", g.APIVersion, g.Resource, g.Namespace, g.Why)
	}
	return "sha256:" + h.sum()
}

// Passing reports whether a kind is short-lived and holds nothing of value.
func Passing(r object.Ref) bool {
	switch object.GroupOf(r.APIVersion) {
	case "", "events.k8s.io":
		return r.Kind == "Event"
	default:
		return r.Is(object.Lease)
	}
}

// consequence adds a consequence. The outcome of one that is only possible does not count.
func (h *digester) consequence(e *report.Effect) {
	o, c := e.Object, e.Consequence
	h.fields("object", o.APIVersion, o.Kind, o.Namespace, o.Name, string(o.UID), string(c.Change), string(c.Certainty))
	if c.Certainty == report.Possible {
		return // which of its possible outcomes is shown is arbitrary
	}
	h.fields("expected", string(c.When), string(e.Outcome), e.Reason)
	for _, r := range e.Once {
		h.fields("after", string(r.Object.UID), r.Object.Name, r.Finalizer, string(r.State))
	}
}

// digester hashes lists of values. Different lists have different encodings.
type digester struct {
	hash hash.Hash
	// buffer contains encoded values that were not hashed yet.
	buffer []byte
}

// field appends a value to the current list.
func (h *digester) field(v string) {
	h.buffer = strconv.AppendInt(h.buffer, int64(len(v)), 10)
	h.buffer = append(h.buffer, ':')
	h.buffer = append(h.buffer, v...)
	h.buffer = append(h.buffer, ',')
}

// fields appends values and ends the list.
func (h *digester) fields(values ...string) {
	for _, v := range values {
		h.field(v)
	}
	h.buffer = append(h.buffer, '\n')
	if len(h.buffer) >= 1<<14 {
		h.flush()
	}
}

func (h *digester) flush() {
	h.hash.Write(h.buffer)
	h.buffer = h.buffer[:0]
}

// sum hashes the rest and returns the result in hexadecimal.
func (h *digester) sum() string {
	h.flush()
	return hex.EncodeToString(h.hash.Sum(nil))
}
