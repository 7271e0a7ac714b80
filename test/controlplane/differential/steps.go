package differential

import (
	"net/http"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

// stepsOf is what the collector asks for with success in the steps of a plan. They
// leave out on which conditions a DELETE is sent.
func stepsOf(p *report.Plan, rs *object.Resources) (string, error) {
	var steps page
	for _, s := range p.Steps {
		ref := asSent(rs, object.Ref(s.Object))
		if s.Actor != "collector" || s.Answer != 0 {
			continue
		}
		switch s.Verb {
		case http.MethodDelete:
			steps.note("DELETE "+named(ref)+" policy="+s.Policy, true)
		case http.MethodPatch:
			// A plan does not say of which type a patch is. Of those of the collector
			// the merge patches have a resourceVersion.
			form := object.StrategicMerge
			if strings.Contains(s.Patch, `"resourceVersion"`) {
				form = object.Merge
			}
			patch, err := facade.PatchOf(form.String(), []byte(s.Patch))
			if err != nil {
				return "", err
			}
			steps.note(patchLine("", ref, patch), true)
		}
	}
	return steps.text(), nil
}

// unconditional are requests without the conditions of DELETEs.
func unconditional(requests string) string {
	var p page
	for line := range strings.Lines(requests) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, http.MethodDelete) {
			line, _, _ = strings.Cut(line, " uid=")
		}
		p.note(line, true)
	}
	return p.text()
}
