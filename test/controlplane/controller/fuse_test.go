package controller

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// annotated is what the lease says of the fuse.
func annotated(t *testing.T, namespace string) string {
	t.Helper()
	return string(kubectl(t, nil, "get", "lease", "kubectl-gc", "-n", namespace, "-o", `jsonpath={.metadata.annotations.kubectl-gc\.io/fuse-blown}`))
}

// A blown fuse is blown in the next process, too, however the first one ended, until a
// person takes the annotation off the lease.
func TestFuseOutlivesTheProcess(t *testing.T) {
	namespace := space(t)
	for i := range 12 {
		configMap(t, namespace, fmt.Sprint("garbage-", i), absent())
	}
	flags := []string{"--mode=enforce", "--quarantine=0", "--leader-elect", "--leader-elect-namespace=" + namespace}
	first := start(t, append(flags, "--max-deletes-per-minute=5")...)
	first.says("the fuse has blown")
	until(t, "it stands on the lease", func() bool { return strings.Contains(annotated(t, namespace), " DeletesPerMinute: ") })
	if first.metric("kubectl_gc_fuse_blown", `cause="DeletesPerMinute"`) != 1 {
		t.Error("the metric does not say what has blown it")
	}
	until(t, "an event on the lease", func() bool {
		text, err := ask(t, http.MethodGet, "/api/v1/namespaces/"+namespace+"/events?fieldSelector=involvedObject.kind=Lease,reason=FuseBlown,type=Warning", nil)
		return err == nil && strings.Contains(string(text), "kubectl annotate lease")
	})
	first.signal(syscall.SIGKILL)
	<-first.done

	second := start(t, flags...)
	second.says("the fuse has blown")
	until(t, "it has read everything", func() bool { return second.metric("kubectl_gc_synced") == 1 })
	until(t, "refusals are counted", func() bool { return second.metric("kubectl_gc_decisions_total", `reason="FuseBlown"`) >= 7 })
	// Those that the fuse let through, and that were not sent when it blew, stay, too.
	if left := count(t, namespace, "garbage-"); left < 7 || second.metric("kubectl_gc_fuse_blown", `cause="Remembered"`) != 1 {
		t.Errorf("%d of 12 are left, want 7 at least; the fuse is %v", left, second.metric("kubectl_gc_fuse_blown"))
	}
	if code := second.end(); code != 0 {
		t.Errorf("it ends with %d", code)
	}

	if annotated(t, namespace) == "" {
		t.Error("the lease that was given back has forgotten it")
	}
	kubectl(t, nil, "annotate", "lease", "kubectl-gc", "-n", namespace, "kubectl-gc.io/fuse-blown-")
	start(t, flags...).collecting()
	until(t, "the rest goes", func() bool { return count(t, namespace, "garbage-") == 0 })
}

// When a large share of the cluster becomes garbage at once, none of it is deleted.
func TestStorm(t *testing.T) {
	const many = 150
	namespace := space(t)
	for i := range many {
		configMap(t, namespace, fmt.Sprint("garbage-", i), absent())
	}
	p := start(t, "--mode=enforce", "--quarantine=0", "--max-garbage-percent=10")
	p.says("the fuse has blown")
	until(t, "refusals are counted", func() bool { return p.metric("kubectl_gc_decisions_total", `reason="FuseBlown"`) >= 1 })
	if p.metric("kubectl_gc_fuse_blown", `cause="GarbageShare"`) != 1 || !strings.Contains(p.log.String(), "objects became garbage within a minute") {
		t.Errorf("nothing says why:\n%s", p.log.String())
	}
	if left := count(t, namespace, "garbage-"); left != many || p.metric("kubectl_gc_requests_total", `verb="delete"`) > 0 {
		t.Errorf("%d of %d are left, %v deletes", left, many, p.metric("kubectl_gc_requests_total", `verb="delete"`))
	}
}
