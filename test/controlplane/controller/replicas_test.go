package controller

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// holder is the identity of who has the lease.
func holder(t *testing.T, namespace string) string {
	t.Helper()
	text, err := ask(t, http.MethodGet, "/apis/coordination.k8s.io/v1/namespaces/"+namespace+"/leases/kubectl-gc", nil)
	if err != nil {
		return ""
	}
	var lease struct {
		Spec struct{ HolderIdentity string }
	}
	if err := json.Unmarshal(text, &lease); err != nil {
		t.Fatal(err)
	}
	return lease.Spec.HolderIdentity
}

// A leader that is frozen in the middle of a cascade ends when it is resumed, without
// another write; one that is killed is followed; and the last one finishes.
func TestReplicas(t *testing.T) {
	// At two deletes a second the cascade takes longer than whatever is done meanwhile.
	const many, some = 200, 6
	namespace := space(t)
	owner := configMap(t, namespace, "owner")
	for i := range many {
		configMap(t, namespace, fmt.Sprint("dependent-", i), mapOwner("owner", owner.UID))
	}
	front := startProxy(t)
	flags := []string{"--mode=enforce", "--absent-owner-grace-period=0", "--leader-elect", "--leader-elect-namespace=" + namespace,
		"--delete-qps=2", "--max-deletes-per-minute=0", "--max-garbage-percent=0"}
	first := launch(t, append(flags, "--server="+front.url)...).collecting()
	second := start(t, flags...)
	second.says("waiting for the lease")
	was := holder(t, namespace)

	remove(t, path(namespace, "configmaps", "owner"), "Background")
	left := func(n int) func() bool { return func() bool { return count(t, namespace, "dependent-") <= n } }
	until(t, "the first one is in the middle", left(many-some))
	first.signal(syscall.SIGSTOP)
	until(t, "the second one leads", func() bool { now := holder(t, namespace); return now != "" && now != was })
	second.collecting()
	before := count(t, namespace, "dependent-")
	until(t, "the second one is in the middle", left(before-some))
	front.forget()
	first.signal(syscall.SIGCONT)
	if code := first.code(); code != 1 {
		t.Errorf("the first one ends with %d, want 1:\n%s", code, first.log.String())
	}
	if !strings.Contains(first.log.String(), "the lease was lost") {
		t.Errorf("the first one does not say why it ends:\n%s", first.log.String())
	}
	if late := front.writes(); len(late) > 0 {
		t.Errorf("%d writes after the lease was lost: %v", len(late), late)
	}

	third := start(t, "--mode=enforce", "--absent-owner-grace-period=0", "--leader-elect", "--leader-elect-namespace="+namespace, "--max-deletes-per-minute=0", "--max-garbage-percent=0")
	third.says("waiting for the lease")
	if count(t, namespace, "dependent-") == 0 {
		t.Fatal("the cascade is over too early for this test")
	}
	second.signal(syscall.SIGKILL)
	<-second.done
	until(t, "the third one finishes", left(0))
	third.says("collecting")
	if code := third.end(); code != 0 {
		t.Errorf("the third one ends with %d:\n%s", code, third.log.String())
	}
	if now := holder(t, namespace); now != "" {
		t.Errorf("the lease was not given back: %s has it", now)
	}
}

// Where nothing changes nothing is asked but what keeps watches and the lease, and
// discovery once in a sync period.
func TestSteady(t *testing.T) {
	namespace := space(t)
	front := startProxy(t)
	p := launch(t, "--mode=enforce", "--absent-owner-grace-period=0", "--leader-elect", "--leader-elect-namespace="+namespace, "--server="+front.url, "--sync-period=10m").collecting()
	until(t, "its queue is empty", func() bool { return p.metric("kubectl_gc_queue_depth", "ready") == 0 })
	until(t, "it renews the lease three times, and in between asks for nothing", func() bool {
		front.forget() // what is under way from before shows now
		renewals := front.leases()
		until(t, "three renewals of the lease", func() bool { return front.leases() >= renewals+3 })
		asked := front.others()
		t.Log(asked)
		return len(asked) == 0
	})
}
