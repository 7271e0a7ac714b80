package diagnose

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// callees adds findings for what the API server calls and does not answer: webhooks that must admit deletes or
// updates, such as those of the collector, conversion webhooks, and aggregated APIs.
func (e *examiner) callees() {
	h := e.options.Health
	if h == nil {
		return
	}
	for _, w := range h.UnreachableWebhooks() {
		why, _ := h.Broken(&w.Client)
		if w.Asks(health.Remove, health.Update) {
			about := h.Known(object.Ref{APIVersion: w.APIVersion, Kind: w.Kind, Name: w.Configuration})
			e.add(reason.WebhookDown, about, "webhook "+w.Name+" must admit requests and does not answer: "+why.Text(), "")
		}
	}
	for _, d := range h.UnreachableConversions() {
		why, _ := h.Broken(d.Conversion)
		e.add(reason.WebhookDown, h.Known(d.Ref), "its conversion webhook does not answer: "+why.Text(), "")
	}
	for _, a := range h.APIServices() {
		about := h.Known(object.APIService.Ref("", a.Name))
		if !slices.ContainsFunc(e.findings, func(f report.Finding) bool {
			return f.Code == string(reason.GroupUndiscovered) && f.Object.Name == about.Name
		}) {
			e.add(reason.GroupUndiscovered, about, "what it serves is unknown", a.Available.Message)
		}
	}
}
