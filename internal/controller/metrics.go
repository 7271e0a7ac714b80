package controller

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo/leaderelection" // leader election
	_ "k8s.io/component-base/metrics/prometheus/restclient"              // the lease and the events

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
)

const namespace = "kubectl_gc"

// The metrics. None has a label that a user of the cluster can choose, such as a name, a namespace
// or a kind.
var (
	objectsGauge = gauge("objects", "Objects in the graph, those that are only referred to included.")
	queueGauge   = gaugeVec("queue_depth", "Attempts that are ready, and those that wait to be repeated.", "state")
	kindsGauge   = gaugeVec("kinds", "Kinds that are followed, by what is known of them.", "state")
	trippedGauge = gaugeVec("safety_limit_tripped", "1 when that has tripped the safety limit: nothing is written until a person has looked.", "cause")
	leaderGauge  = gauge("leader", "1 when this process may write as far as the lease is concerned.")
	syncedGauge  = gauge("synced", "1 when every kind was read once or is known to be broken.")

	decisionsTotal = counterVec("decisions_total", "Finished attempts by reason, and by what became of their requests.", "reason", "outcome")
	unknownTotal   = counterVec("unknown_total", "Finished attempts that kept an object because something is not known.", "reason")
	requestsTotal  = counterVec("requests_total", "Requests about objects, by verb and status code.", "verb", "code")
)

var register = sync.OnceFunc(func() {
	legacyregistry.MustRegister(objectsGauge, queueGauge, kindsGauge, trippedGauge, leaderGauge, syncedGauge,
		decisionsTotal, unknownTotal, requestsTotal)
})

func gauge(name, help string) *metrics.Gauge {
	return metrics.NewGauge(&metrics.GaugeOpts{Namespace: namespace, Name: name, Help: help, StabilityLevel: metrics.ALPHA})
}

func gaugeVec(name, help string, labels ...string) *metrics.GaugeVec {
	return metrics.NewGaugeVec(&metrics.GaugeOpts{Namespace: namespace, Name: name, Help: help, StabilityLevel: metrics.ALPHA}, labels)
}

func counterVec(name, help string, labels ...string) *metrics.CounterVec {
	return metrics.NewCounterVec(&metrics.CounterOpts{Namespace: namespace, Name: name, Help: help, StabilityLevel: metrics.ALPHA}, labels)
}

// measure updates the gauges of a collector.
func measure(c *engine.Collector) {
	objectsGauge.Set(float64(c.Graph().Len()))
	queueGauge.WithLabelValues("ready").Set(float64(c.Ready()))
	queueGauge.WithLabelValues("deferred").Set(float64(c.DeferredCount()))
}

// measureKinds updates the gauge of the kinds.
func measureKinds(kinds []kube.KindState) {
	count := map[kube.State]int{kube.Syncing: 0, kube.Synced: 0, kube.Broken: 0}
	for _, k := range kinds {
		count[k.State]++
	}
	for state, n := range count {
		kindsGauge.WithLabelValues(state.String()).Set(float64(n))
	}
}

// measureLimit updates the gauge of the safety limit.
func measureLimit(b *circuitBreaker) {
	cause, _ := b.state()
	for _, c := range causes() {
		trippedGauge.WithLabelValues(string(c)).Set(flag(c == cause))
	}
}

func flag(set bool) float64 {
	if set {
		return 1
	}
	return 0
}
