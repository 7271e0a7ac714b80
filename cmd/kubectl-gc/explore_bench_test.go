package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkExploring measures the cost of exploring other schedules by default: the least CPU time
// of the process over all runs, with and without exploring.
func BenchmarkExploring(b *testing.B) {
	for _, world := range []string{"new", "leaving"} {
		for _, n := range []int{100, 500, 1990} {
			dump := filepath.Join(b.TempDir(), "shop.json")
			if err := os.WriteFile(dump, shop(n, world == "leaving"), 0o600); err != nil {
				b.Fatal(err)
			}
			for _, cascade := range []string{"background", "foreground", "orphan"} {
				b.Run(fmt.Sprintf("%s/%s/of=%d", world, cascade, n), func(b *testing.B) {
					compare(b, "dry-run", "delete", "deployment/web", "configmap/also", "-n", "shop", "--cascade", cascade,
						"--treat-missing-as-absent", "--from", dump)
				})
			}
		}
	}
}

func compare(b *testing.B, args ...string) {
	var plain, usual time.Duration
	for b.Loop() {
		plain = least(plain, processor(b, append(args, "--explore=0")...))
		usual = least(usual, processor(b, args...))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(plain)/1e6, "plain-ms")
	b.ReportMetric(float64(usual)/1e6, "explored-ms")
	b.ReportMetric(float64(usual)/float64(plain), "ratio")
}

// shop returns a dump of a namespace with n objects below a Deployment and a ConfigMap. Each pod has
// both a ReplicaSet and the ConfigMap as owners, so that the order of deletes matters. Every
// nineteenth pod has a finalizer. With leaving, the dump also has everything that a garbage
// collector may remember: pods with finalizers and every fifth ReplicaSet (in the foreground) are
// being deleted, and some pods name an absent owner.
func shop(n int, leaving bool) []byte {
	var items []string
	add := func(apiVersion, kind, name, owners, more string) {
		items = append(items, fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"namespace":"shop","uid":%q,"resourceVersion":"%d",`+
			`"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"web"},"ownerReferences":[%s]%s}`,
			apiVersion, kind, name, kind+name, len(items)+1, owners, more))
	}
	owner := func(apiVersion, kind, name string) string {
		return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q,"controller":%t,"blockOwnerDeletion":true}`,
			apiVersion, kind, name, kind+name, kind != "ConfigMap")
	}
	add("v1", "ConfigMap", "also", "", "}")
	add("apps/v1", "Deployment", "web", "", "}")
	const deleted = `,"deletionTimestamp":"2026-01-02T00:00:00Z","deletionGracePeriodSeconds":0`
	set := ""
	for i := range n - 2 {
		if i%20 == 0 {
			set = fmt.Sprintf("web-%d", i)
			more := ""
			if leaving && i%100 == 80 {
				more = deleted + `,"finalizers":["foregroundDeletion"]`
			}
			add("apps/v1", "ReplicaSet", set, owner("apps/v1", "Deployment", "web"), more+"}")
			continue
		}
		owners, held := owner("apps/v1", "ReplicaSet", set)+","+owner("v1", "ConfigMap", "also"), ""
		switch {
		case i%20 == 1:
			held = `,"finalizers":["example.com/hold"]`
			if leaving {
				held += deleted
			}
		case leaving && i%7 == 0:
			owners += "," + owner("v1", "ConfigMap", fmt.Sprintf("gone-%d", i))
		}
		add("v1", "Pod", fmt.Sprintf("%s-%d", set, i), owners,
			held+`},"spec":{"nodeName":"node","volumes":[]},"status":{"phase":"Running"}`)
	}
	return []byte(`{"apiVersion":"v1","kind":"List","items":[` + strings.Join(items, ",\n") + "]}\n")
}

// processor returns the CPU time of one run of the program. It accepts exit codes above 2, which
// are answers.
func processor(b *testing.B, args ...string) time.Duration {
	b.Helper()
	c := exec.CommandContext(b.Context(), "kubectl-gc", args...)
	c.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(b.TempDir(), "none"))
	var complaint strings.Builder
	c.Stderr = &complaint
	if err := c.Run(); err != nil && (c.ProcessState == nil || c.ProcessState.ExitCode() <= 2) {
		b.Fatalf("%v: %s", err, complaint.String())
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

// least returns the smaller of two durations; b if a is 0.
func least(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}
