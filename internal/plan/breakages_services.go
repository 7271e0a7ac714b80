package plan

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// selecting is a Service with its selector.
type selecting struct {
	at       object.Coordinates
	selector labels.Selector
	exact    []labelPair // the requirements of one value
}

type labelPair struct{ key, value string }

// idleServices returns the Services that stay and lose all their pods.
func (b *breakages) idleServices() map[object.Coordinates]report.Certainty {
	idle := map[object.Coordinates]report.Certainty{}
	if !b.anyGoes(object.Pod.GroupKind) {
		return idle
	}
	for namespace, services := range b.selectingServices() {
		pods := b.snap.In(object.Pod.GroupResource(), namespace)
		byLabel := podsByLabel(services, pods)
		for _, s := range services {
			if certainty, ok := b.losesAllPods(s, s.narrowest(byLabel, pods)); ok {
				idle[s.at] = certainty
			}
		}
	}
	return idle
}

// selectingServices returns the Services that stay or may stay, by namespace, in the namespaces of pods that go.
func (b *breakages) selectingServices() map[string][]selecting {
	namespaces := b.goes.namespaces(object.Pod.GroupKind)
	services := map[string][]selecting{}
	for service, selector := range b.health.Selecting(object.Service) {
		if !namespaces[service.Namespace] {
			continue
		}
		if _, certainty, goes := b.lost(service.Coordinates()); goes && certainty == report.Sure {
			continue
		}
		s := selecting{at: service.Coordinates(), selector: selector}
		requirements, _ := selector.Requirements()
		for _, q := range requirements {
			if values := q.Values().List(); len(values) == 1 {
				s.exact = append(s.exact, labelPair{q.Key(), values[0]})
			}
		}
		services[service.Namespace] = append(services[service.Namespace], s)
	}
	return services
}

// podsByLabel returns the pods with each label that a selector requires.
func podsByLabel(services []selecting, pods []*object.Object) map[labelPair][]*object.Object {
	byLabel := map[labelPair][]*object.Object{}
	for _, s := range services {
		for _, pair := range s.exact {
			byLabel[pair] = nil
		}
	}
	for _, o := range pods {
		for key, value := range o.Labels.All {
			pair := labelPair{key, value}
			if list, wanted := byLabel[pair]; wanted {
				byLabel[pair] = append(list, o)
			}
		}
	}
	return byLabel
}

// narrowest returns the fewest pods among which are all that the Service selects.
func (s *selecting) narrowest(byLabel map[labelPair][]*object.Object, pods []*object.Object) []*object.Object {
	for _, pair := range s.exact {
		if list := byLabel[pair]; len(list) < len(pods) {
			pods = list
		}
	}
	return pods
}

// losesAllPods reports whether pods of a Service go and none stays.
func (b *breakages) losesAllPods(s selecting, pods []*object.Object) (report.Certainty, bool) {
	certainty, some := report.Sure, false
	for _, o := range pods {
		if !s.selector.Matches(o.Labels) {
			continue
		}
		_, c, goes := b.lost(o.Coordinates())
		switch {
		case goes && c != report.Sure:
			certainty, some = report.Possible, true
		case goes:
			some = true
		case !b.leaves(o):
			return "", false
		}
	}
	return certainty, some
}

// called returns the Service that the API server calls and that goes or loses its pods. It returns false
// if it did not work before, or works on.
func (b *breakages) called(s *health.ServiceRef) (one report.Breakage, ok bool) {
	if s == nil {
		return one, false
	}
	if _, down := b.health.Down(s); down {
		return one, false
	}
	at := object.Service.Ref(s.Namespace, s.Name).Coordinates()
	one.When, one.ClusterWide = report.BreaksNow, true
	one.Reference, one.Certainty, ok = b.lost(at)
	if certainty, idle := b.idle[at]; idle && (!ok || certainty == report.Sure) {
		one.Reference, one.Certainty, ok = b.refAt(at), certainty, true
	}
	return one, ok
}

// webhooks adds the admission webhooks that requests must pass.
//
// Source: kubernetes, apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go: a webhook that
// cannot be called refuses the request, unless its failure policy is Ignore.
func (b *breakages) webhooks() {
	seen := b.health.Evidence()
	for n := range seen.Webhooks {
		h := &seen.Webhooks[n]
		if one, ok := b.called(h.Client.Service); ok {
			one.Object = b.health.Known(object.Ref{APIVersion: h.APIVersion, Kind: h.Kind, Name: h.Configuration})
			one.Field, one.Label = "webhooks[].clientConfig.service", h.Name
			one.Message = refusedWrites(h) + " are refused"
			if h.Ignored {
				one.ClusterWide, one.Message = false, refusedWrites(h)+" pass without it"
			}
			b.add(one)
		}
	}
}

// delayRecreation sets when pods come back that a webhook must admit whose pods all go: it refuses its own new
// pods, too, and nothing brings it back.
//
//	pod/hook   goes; rs/hook creates it again
//	API server asks svc/hook, which has no pod: refused
func delayRecreation(snap *snapshot.Snapshot, assessment *health.Assessment, p *report.Plan) {
	if assessment == nil || assessment.Evidence() == nil {
		return
	}
	back := map[object.Coordinates]*report.Effect{}
	for i := range p.Effects {
		e := &p.Effects[i]
		if e.Object.Is(object.Pod) && comesBack(e) && e.IsDeleted() {
			back[e.Object.Coordinates()] = e
		}
	}
	if len(back) == 0 {
		return
	}
	b := &breakages{snap: snap, health: assessment, goes: leaving(p, true)}
	b.idle = b.idleServices()
	for n := range assessment.Evidence().Webhooks {
		h := &assessment.Evidence().Webhooks[n]
		one, lost := b.called(h.Client.Service)
		if h.Ignored || !lost || !one.Reference.Is(object.Service) || !b.refusesOwnPods(h, back) {
			continue
		}
		for _, e := range back {
			if takes, sure := assessment.MustAdmit(h, health.Write{Operation: health.Create, Object: snap.ObjectAt(e.Object.Coordinates())}); takes && sure {
				e.RecreatedWhen = onceAnswered(h)
			}
		}
	}
}

// refusesOwnPods reports whether a webhook must admit every pod of its Service that comes back.
func (b *breakages) refusesOwnPods(h *health.Webhook, back map[object.Coordinates]*report.Effect) bool {
	some := false
	for _, s := range b.selectingServices()[h.Client.Service.Namespace] {
		if s.at.Name != h.Client.Service.Name {
			continue
		}
		for at := range back {
			o := b.snap.ObjectAt(at)
			if at.Namespace != s.at.Namespace || !s.selector.Matches(o.Labels) {
				continue
			}
			some = true
			if takes, sure := b.health.MustAdmit(h, health.Write{Operation: health.Create, Object: o}); !takes || !sure {
				return false
			}
		}
	}
	return some
}

// onceAnswered says when an object is created that a webhook must admit.
func onceAnswered(h *health.Webhook) string { return "once webhook " + h.Name + " answers" }

// refusedWrites returns the requests that a webhook must admit.
func refusedWrites(h *health.Webhook) string {
	some := ""
	if len(h.Namespaces.MatchLabels)+len(h.Namespaces.MatchExpressions)+len(h.Objects.MatchLabels)+len(h.Objects.MatchExpressions) > 0 || h.Conditional {
		some = " that it selects"
	}
	var kinds []string
	for _, r := range h.Rules {
		if slices.Contains(r.Groups, "*") && slices.ContainsFunc(r.Resources, func(x string) bool { return x == "*" || x == "*/*" }) {
			return "all writes" + some
		}
		for _, x := range r.Resources {
			if slices.Contains(r.Groups, "*") || slices.Contains(r.Groups, "") || len(r.Groups) == 0 || x == "*" {
				x = strings.TrimSuffix(x+"."+strings.Join(r.Groups, ","), ".")
			}
			kinds = append(kinds, x)
		}
	}
	slices.Sort(kinds)
	kinds = slices.Compact(kinds)
	const most = 3
	text := strings.Join(kinds[:min(most, len(kinds))], ", ")
	if more := len(kinds) - most; more > 0 {
		text += " and " + report.Plural(more, "more kind")
	}
	return "writes of " + text + some
}

// apis adds the aggregated APIs, and the CRDs with a conversion webhook.
//
// Source: kubernetes, kube-aggregator/pkg/apiserver/handler_proxy.go ServeHTTP: 503.
// Source: kubernetes, pkg/controller/namespace/deletion/namespaced_resources_deleter.go
// deleteAllContent: a group that discovery cannot name keeps every namespace.
func (b *breakages) apis() {
	seen := b.health.Evidence()
	for n := range seen.APIServices {
		a := &seen.APIServices[n]
		if one, ok := b.called(a.Service); ok {
			one.Object = b.health.Known(object.APIService.Ref("", a.Name))
			one.Field, one.Label = "spec.service", "service"
			one.Message = "API " + a.Name + " is unavailable, and no namespace can be deleted" + metricsLost(a.Group)
			b.add(one)
		}
	}
	for n := range seen.Definitions {
		d := &seen.Definitions[n]
		if d.Conversion == nil || d.Versions < 2 {
			continue
		}
		if one, ok := b.called(d.Conversion.Service); ok {
			one.Object = b.health.Known(d.Ref)
			one.Field, one.Label = "spec.conversion.webhook.clientConfig.service", "conversion"
			one.Message = d.Plural + "." + d.Group + " cannot be read or written in another version than " + cmp.Or(d.Storage, "the stored one")
			b.add(one)
		}
	}
}

// unserved adds the Services that stay behind aggregated APIs that go: no request reaches them. Discovery does
// not wait for an API that is not registered, and namespaces can be deleted.
//
// Source: kubernetes, kube-aggregator/pkg/apiserver/apiserver.go RemoveAPIService.
func (b *breakages) unserved() {
	seen := b.health.Evidence()
	for n := range seen.APIServices {
		a := &seen.APIServices[n]
		target, certainty, ok := b.lost(object.APIService.Ref("", a.Name).Coordinates())
		if !ok || a.Service == nil || a.Available.Status == "False" {
			continue
		}
		b.add(report.Breakage{
			Object: b.health.Known(object.Service.Ref(a.Service.Namespace, a.Service.Name)), Reference: target, Certainty: certainty, When: report.BreaksNow,
			Field: "spec.service", Label: "service", Message: "API " + a.Name + " is not served any more",
		})
	}
}

// scalers adds the autoscalers that lose an API of their metrics:
//
//	all metrics are lost    it does not scale
//	some are                it scales up by the others, and never down
//
// Source: kubernetes, pkg/controller/podautoscaler/horizontal.go computeReplicasForMetrics.
func (b *breakages) scalers() {
	if !b.anyGoes(object.APIService.GroupKind) {
		return
	}
	for _, user := range b.health.Referrers() {
		lost, left := map[string]report.Breakage{}, map[string]bool{} // by the group of the API
		for i := range user.References {
			r := &user.References[i]
			_, group, _ := strings.Cut(r.Name, ".")
			if r.Kind != object.APIService.Kind || b.snap.ObjectAt(r.Target()) == nil {
				continue
			}
			if target, certainty, goes := b.lost(r.Target()); goes {
				lost[group] = report.Breakage{
					Object: user.Ref, Field: r.Field, Label: "metrics", Reference: target, Certainty: certainty, When: report.BreaksNextReconcile, Message: "it does not scale",
				}
			} else {
				left[group] = true
			}
		}
		for group, one := range lost {
			if left[group] {
				continue
			}
			if len(left) > 0 {
				one.Message = "it scales up by its other metrics, and never down"
			}
			b.add(one)
		}
	}
}

// metricsLost returns what an API that is unavailable means for autoscalers, unless it is none of metrics.
//
// Source: kubernetes, pkg/controller/podautoscaler/metrics/client.go GetResourceMetric, GetObjectMetric,
// GetExternalMetric.
func metricsLost(group string) string {
	switch group {
	case "metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io":
		return ", and autoscalers cannot read its metrics"
	default:
		return ""
	}
}
