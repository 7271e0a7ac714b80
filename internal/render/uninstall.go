package render

import (
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// uninstallNotes returns what a plan of `helm uninstall` says besides its effects: what stays, which
// hooks run, and the command of Helm.
func uninstallNotes(s Style, p *report.Plan) []string {
	u := p.Seed.Uninstall
	if u == nil {
		return nil
	}
	var notes []string
	if u.Status != "" && (u.Status != "deployed" || s.isComplete()) {
		notes = append(notes, "Helm uninstalls the newest revision of "+s.text(u.Release)+", "+strconv.FormatInt(u.Revision, 10)+": "+s.text(u.Status)+", chart "+s.text(u.Chart)+".")
	}
	var kept groups[string, object.Ref]
	for _, k := range u.Stays {
		kept.add(k.Message, k.Object)
	}
	for _, why := range kept.keys {
		notes = append(notes, "Stays: "+s.firstOrAll(kept.of[why])+": "+s.text(why)+".")
	}
	if u.CRDs {
		notes = append(notes, "Stays: CRDs of the chart's directory crds.")
	}
	for _, event := range []string{"pre-delete", "post-delete"} {
		var refs []object.Ref
		for i := range u.Hooks {
			if slices.Contains(u.Hooks[i].Events, event) {
				refs = append(refs, u.Hooks[i].Object)
			}
		}
		if len(refs) > 0 {
			notes = append(notes, "Hooks ("+event+"): "+s.firstOrAll(refs)+s.remaining(u.Hooks, event)+".")
		}
	}
	return append(notes, "To do it: "+s.text(u.Command))
}

// remaining says which hooks of an event stay if they succeed.
func (s Style) remaining(hooks []report.HelmHook, event string) string {
	var refs []object.Ref
	for i := range hooks {
		if h := &hooks[i]; slices.Contains(h.Events, event) && !slices.Contains(h.DeletePolicies, "hook-succeeded") {
			refs = append(refs, h.Object)
		}
	}
	if len(refs) == 0 {
		return ", deleted again on success"
	}
	return "; " + s.firstOrAll(refs) + pluralForm(len(refs), " stays", " stay") + " afterwards"
}

// firstOrAll names objects, the first few unless all are asked for.
func (s Style) firstOrAll(refs []object.Ref) string { return s.firstRefs(refs, s.atMost(4, len(refs))) }
