package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// digest identifies the plan: what was asked for, what becomes of every object
// that the request concerns, in the version that was seen, and what was not known
// of where these objects are. An object in the same version gets the same
// requests. What would happen without the request, too, is not part of it: garbage
// in another corner of a busy cluster is no reason to look at a plan again.
func (s *simulation) digest(p *report.Plan, all fates) string {
	h := sha256.New()
	fields(h, "v2", p.Rules, p.Seed.Verb, p.Seed.Policy, string(p.Source.ClusterUID))
	if len(s.seed.Finalizers) > 0 {
		fields(h, append([]string{"finalizers"}, s.seed.Finalizers...)...)
	}
	touched := map[string]bool{}
	for _, t := range p.Seed.Targets {
		touched[t.Namespace] = true
		rv := ""
		if o := s.snap.Find(t.APIVersion, t.Kind, t.Namespace, t.Name); o != nil {
			rv = o.ResourceVersion
		}
		fields(h, "target", t.APIVersion, t.Kind, t.Namespace, t.Name, string(t.UID), rv)
	}
	for _, f := range s.sorted(all) {
		if !s.concerned(f) {
			continue
		}
		if !staysReleased(f.reason) {
			touched[f.track.first.Namespace] = true
		}
		f.identify(h)
	}
	for _, g := range RelevantGaps(s.snap, func(ns string) bool { return touched[ns] }) {
		fields(h, "gap", g.APIVersion, g.Resource, g.Namespace, g.Why)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// concerned tells whether the seed has to do with an object: it is asked for, and
// what becomes of it does not happen anyway.
func (s *simulation) concerned(f *fate) bool {
	switch {
	case f.track.target:
		return true
	case s.notAskedFor(f.track.first):
		return false
	default:
		return !f.baseline
	}
}

// identify writes what becomes of one object. The version of an object that gets no
// request does not count: only that it stays, and why.
func (f *fate) identify(h hash.Hash) {
	o := f.track.first
	rv := o.ResourceVersion
	if f.outcome == report.Kept || f.outcome == report.Unknown {
		rv = ""
	}
	var line [24]string
	list := append(line[:0], "object", string(f.outcome), f.reason, strconv.FormatBool(f.contested),
		o.APIVersion, o.Kind, o.Namespace, o.Name, string(o.UID), rv)
	for _, r := range refs(f.because) {
		list = append(list, "because", string(r.UID), r.Name)
	}
	for _, r := range refs(f.removed) {
		list = append(list, "removed", string(r.UID), r.Name)
	}
	if b := f.blocked; b != nil {
		list = append(append(list, "held", strconv.Itoa(len(b.Finalizers))), b.Finalizers...)
		for _, d := range b.Dependents {
			list = append(list, "waits", string(d.UID), d.Name)
		}
	}
	fields(h, list...)
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
