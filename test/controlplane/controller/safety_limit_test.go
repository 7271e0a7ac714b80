package controller

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// annotated is what the lease says of the limit.
func annotated(t *testing.T, namespace string) string {
	t.Helper()
	return string(kubectl(t, nil, "get", "lease", "kubectl-gc", "-n", namespace, "-o", `jsonpath={.metadata.annotations.kubectl-gc\.io/safety-limit-tripped}`))
}

// A tripped safety limit is tripped in the next process, too, however the first one ended, until a
// person takes the annotation off the lease.
func TestTripOutlivesTheProcess(t *testing.T) {
	namespace := space(t)
	for i := range 12 {
		configMap(t, namespace, fmt.Sprint("garbage-", i), absent())
	}
	flags := []string{"--mode=enforce", "--absent-owner-grace-period=0", "--leader-elect", "--leader-elect-namespace=" + namespace}
	first := start(t, append(flags, "--max-deletes-per-minute=5")...)
	first.says("the safety limit has tripped")
	until(t, "it stands on the lease", func() bool { return strings.Contains(annotated(t, namespace), " DeletesPerMinute: ") })
	if first.metric("kubectl_gc_safety_limit_tripped", `cause="DeletesPerMinute"`) != 1 {
		t.Error("the metric does not say what has tripped it")
	}
	until(t, "an event on the lease", func() bool {
		text, err := ask(t, http.MethodGet, "/api/v1/namespaces/"+namespace+"/events?fieldSelector=involvedObject.kind=Lease,reason=SafetyLimitTripped,type=Warning", nil)
		return err == nil && strings.Contains(string(text), "kubectl annotate lease")
	})
	first.signal(syscall.SIGKILL)
	<-first.done

	second := start(t, flags...)
	second.says("the safety limit has tripped")
	until(t, "it has read everything", func() bool { return second.metric("kubectl_gc_synced") == 1 })
	until(t, "refusals are counted", func() bool { return second.metric("kubectl_gc_decisions_total", `reason="SafetyLimitTripped"`) >= 7 })
	// Those that the limit let through, and that were not sent when it tripped, stay, too.
	if left := count(t, namespace, "garbage-"); left < 7 || second.metric("kubectl_gc_safety_limit_tripped", `cause="Remembered"`) != 1 {
		t.Errorf("%d of 12 are left, want 7 at least; the limit is %v", left, second.metric("kubectl_gc_safety_limit_tripped"))
	}
	if code := second.end(); code != 0 {
		t.Errorf("it ends with %d", code)
	}

	if annotated(t, namespace) == "" {
		t.Error("the lease that was given back has forgotten it")
	}
	kubectl(t, nil, "annotate", "lease", "kubectl-gc", "-n", namespace, "kubectl-gc.io/safety-limit-tripped-")
	start(t, flags...).collecting()
	until(t, "the rest goes", func() bool { return count(t, namespace, "garbage-") == 0 })
}

// When a large share of the cluster becomes garbage at once, none of it is deleted.
func TestTooMuchGarbage(t *testing.T) {
	const many = 150
	namespace := space(t)
	for i := range many {
		configMap(t, namespace, fmt.Sprint("garbage-", i), absent())
	}
	p := start(t, "--mode=enforce", "--absent-owner-grace-period=0", "--max-garbage-percent=10")
	p.says("the safety limit has tripped")
	until(t, "refusals are counted", func() bool { return p.metric("kubectl_gc_decisions_total", `reason="SafetyLimitTripped"`) >= 1 })
	if p.metric("kubectl_gc_safety_limit_tripped", `cause="GarbageShare"`) != 1 || !strings.Contains(p.log.String(), "objects became garbage within a minute") {
		t.Errorf("nothing says why:\n%s", p.log.String())
	}
	if left := count(t, namespace, "garbage-"); left != many || p.metric("kubectl_gc_requests_total", `verb="delete"`) > 0 {
		t.Errorf("%d of %d are left, %v deletes", left, many, p.metric("kubectl_gc_requests_total", `verb="delete"`))
	}
}
