package lost

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

var (
	objects = flag.Int("objects", 100_000, "objects of the cluster whose losses are asked for")
	rounds  = flag.Int("rounds", 1, "how often some 5,000 of them are deleted")
	asks    = flag.Int("asks", 3, "how often it is asked after each of these")
	chatter = flag.Int("chatter", 0, "how many writes to pods there are in a second")
	// The objects are older than what is asked for, as they are in any cluster.
	since = flag.Duration("since", 5*time.Minute, "how far it is looked back")
)

// BenchmarkLost measures `lost` of a big cluster, of which some 5,000 objects went, and what other
// clients notice of it.
func BenchmarkLost(b *testing.B) {
	program, err := cluster.Program()
	if err != nil {
		b.Fatal(err)
	}
	populate(b, *objects, *rounds)
	if err := plane.Backup(); err != nil { // the API server starts, and remembers no writes
		b.Fatal(err)
	}
	if err := plane.Controllers("garbage-collector-controller", "namespace-controller"); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for round := range *rounds {
			measure(b, program, round)
		}
	}
}

// measure is one round: it waits until all else is older than what is asked for.
func measure(b *testing.B, program string, round int) {
	b.Helper()
	ctx := b.Context()
	every(ctx, *since, 20, func(int) {})
	began := time.Now()
	talking, quiet := context.WithCancel(ctx)
	defer quiet()
	if *chatter > 0 {
		go every(talking, time.Hour, *chatter, func(n int) { chat(ctx, n) })
	}
	if err := accident(ctx, round); err != nil {
		b.Fatal(err)
	}
	b.Logf("round %d: deleted in %s", round, time.Since(began).Round(time.Second))
	every(ctx, 2*time.Minute-time.Since(began), 20, func(int) {})
	server := plane.Process("kube-apiserver")
	worked := cluster.Worked(server)
	alone := probe(ctx, 10*time.Second)
	b.Logf("others, before: %s; API server %.1f s of CPU in 10 s", alone, (cluster.Worked(server) - worked).Seconds())
	for range *asks {
		probing, stop := context.WithCancel(ctx)
		var beside latencies
		var wg sync.WaitGroup
		wg.Go(func() { beside = probe(probing, time.Minute) })
		peak := int64(0)
		wg.Go(func() {
			every(probing, time.Minute, 20, func(int) { peak = max(peak, cluster.Resident(server)) })
		})
		before, worked := cluster.Resident(server), cluster.Worked(server)
		r, err := ask(program, plane.Kubeconfig)
		worked = cluster.Worked(server) - worked
		stop()
		wg.Wait()
		if err != nil {
			b.Fatal(err)
		}
		b.Logf("%s; API server %.1f s of CPU, %d → %d MB; others beside it: %s", r, worked.Seconds(), before>>10, peak>>10, beside)
	}
	m, err := plane.Meter()
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	if _, err := ask(program, m.Kubeconfig); err != nil {
		b.Fatal(err)
	}
	b.Logf("requests, and bytes of the answers as they were sent:\n%s", m)
}

// asked is what an answer has cost.
type asked struct {
	took, cpu time.Duration
	kilobytes int64
	losses    int
	limits    []string
}

func (r asked) String() string {
	return fmt.Sprintf("%.1f s (%.1f s of CPU), %d MB, %d losses, limits %q", r.took.Seconds(), r.cpu.Seconds(), r.kilobytes>>10, r.losses, r.limits)
}

// ask runs the program.
func ask(program, kubeconfig string) (asked, error) {
	cmd := exec.Command(program, "lost", "-A", "--since="+since.String(), "-o", "json", "--kubeconfig="+kubeconfig)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	began := time.Now()
	err := cmd.Run()
	r := asked{took: time.Since(began)}
	if err != nil {
		return r, fmt.Errorf("%w: %s", err, said.Bytes())
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.kilobytes, r.cpu = usage.Maxrss, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	}
	var d struct {
		Losses       []struct{}
		Limits, Gaps []struct{ Why string }
	}
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		return r, err
	}
	r.losses = len(d.Losses)
	for _, l := range append(d.Limits, d.Gaps...) {
		r.limits = append(r.limits, l.Why)
	}
	return r, nil
}

// latencies are how long small requests took.
type latencies []time.Duration

func (l latencies) String() string {
	if len(l) == 0 {
		return "none"
	}
	slices.Sort(l)
	return fmt.Sprintf("p50 %.1f ms, p99 %.1f ms of %d", l[len(l)/2].Seconds()*1e3, l[len(l)*99/100].Seconds()*1e3, len(l))
}

// probe asks for single objects and for small lists, a hundred times a second, whether or not
// those before have been answered.
func probe(ctx context.Context, d time.Duration) latencies {
	var mu sync.Mutex
	var all latencies
	var wg sync.WaitGroup
	every(ctx, d, 100, func(n int) {
		wg.Go(func() {
			path := fmt.Sprintf("/api/v1/namespaces/%s/configmaps/app-%03d-config-0", cluster.LoadNamespace(20+n%20), n%90)
			if n%10 == 0 {
				path = fmt.Sprintf("/api/v1/namespaces/%s/pods?labelSelector=app%%3Dapp-%03d", cluster.LoadNamespace(20+n%20), n%90)
			}
			began := time.Now()
			if _, err := plane.Do(context.WithoutCancel(ctx), http.MethodGet, path, "", nil); err != nil {
				panic(err)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, time.Since(began))
		})
	})
	wg.Wait()
	return all
}

// every does something so often a second, for so long or until the end of the context.
func every(ctx context.Context, d time.Duration, often int, do func(n int)) {
	end := time.NewTimer(d)
	defer end.Stop()
	tick := time.NewTicker(time.Second / time.Duration(often))
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-end.C:
			return
		case <-tick.C:
			do(n)
		}
	}
}

// populate makes so many objects, in namespaces of some 2,000, and those that are deleted whole: one for
// each round.
func populate(b *testing.B, objects, rounds int) {
	b.Helper()
	l := &cluster.Load{Cluster: plane}
	for i := range rounds {
		if err := l.Namespace(doomed(i), 3000/cluster.PerApplication); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Fill(objects); err != nil {
		b.Fatal(err)
	}
	b.Logf("%d objects", l.Objects)
}

func doomed(i int) string { return fmt.Sprintf("doomed-%d", i) }

// accident deletes a namespace of 3,000 objects, and in others some 2,000 with deployments and by
// collections; it returns when all that has gone.
func accident(ctx context.Context, round int) error {
	first := 5 * round // of the namespaces that lose something
	requests := []string{"/api/v1/namespaces/" + doomed(round)}
	for n := range 5 {
		for i := range 30 {
			requests = append(requests, fmt.Sprintf("/apis/apps/v1/namespaces/%s/deployments/app-%03d", cluster.LoadNamespace(first+n), i))
		}
	}
	requests = append(requests, "/api/v1/namespaces/"+cluster.LoadNamespace(first)+"/configmaps", "/api/v1/namespaces/"+cluster.LoadNamespace(first+1)+"/secrets")
	for _, path := range requests {
		got, err := send(ctx, "", http.MethodDelete, path, object{"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"})
		if err != nil {
			return err
		}
		if got.code >= http.StatusBadRequest {
			return fmt.Errorf("DELETE %s: %d", path, got.code)
		}
	}
	return cluster.Await(ctx, "all is collected", func(ctx context.Context) (bool, error) {
		got, err := send(ctx, "", http.MethodGet, requests[0], nil)
		if err != nil || got.code != http.StatusNotFound {
			return false, err
		}
		last, err := plane.Do(ctx, http.MethodGet, "/api/v1/namespaces/"+cluster.LoadNamespace(first+4)+"/pods?labelSelector=app%3Dapp-029", "", nil)
		return err == nil && !strings.Contains(string(last), `"name":"app-029`), err
	})
}

// chat writes to a pod, as nodes do of a cluster that is alive.
func chat(ctx context.Context, n int) {
	path := fmt.Sprintf("/api/v1/namespaces/%s/pods/app-%03d-1-%d/status", cluster.LoadNamespace(20+n%20), n%90, n%cluster.PodsOfOne)
	_, _ = send(ctx, "", http.MethodPatch, path, object{"status": object{"message": fmt.Sprint(n)}})
}
