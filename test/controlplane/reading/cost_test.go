package reading

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// taskVariable makes the binary of the tests one of two programs whose cost is
// compared: it names the task and the kubeconfig.
const taskVariable = "READING_TASK"

// The tasks: a snapshot, the same lists fetched and thrown away, or gone through field by
// field before, and a graph fed by watches. Lists may be of metadata alone.
const (
	taskSnapshot = "snapshot"
	taskDiscard  = "discard"
	taskScan     = "scan"
	taskFollow   = "follow"

	metadataAlone = "-metadata"
)

// perform does a task and prints what it took: milliseconds, kilobytes of memory at
// the most, and what was read.
func perform(task string) int {
	name, kubeconfig, _ := strings.Cut(task, " ")
	began := time.Now()
	read, err := map[string]func(string) (int64, error){
		taskSnapshot: snapshotTask, taskFollow: followTask,
		taskDiscard: fetchTask(io.Copy, false), taskDiscard + metadataAlone: fetchTask(io.Copy, true),
		taskScan: fetchTask(scan, false), taskScan + metadataAlone: fetchTask(scan, true),
	}[name](kubeconfig)
	took := time.Since(began)
	line := "VmHWM:"
	if name == taskFollow {
		// What stays, not what the lists took for a moment.
		debug.FreeOSMemory()
		line = "VmRSS:"
	}
	peak, peakErr := memory(line)
	runtime.KeepAlive(kept)
	if err = errors.Join(err, peakErr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(took.Milliseconds(), peak, read)
	return 0
}

// of is the cluster of a kubeconfig, which another process started.
func of(kubeconfig string) *cluster.Cluster { return &cluster.Cluster{Kubeconfig: kubeconfig} }

func snapshotTask(kubeconfig string) (int64, error) {
	c, err := of(kubeconfig).Connect(kube.Options{})
	if err != nil {
		return 0, err
	}
	s, err := c.Snapshot(context.Background(), kube.Scope{}, nil)
	if err != nil {
		return 0, err
	}
	return int64(len(s.Objects)), nil
}

// kept is what a task leaves in memory on purpose.
var kept *engine.Collector

// followTask feeds a collector until everything there is was handed over.
func followTask(kubeconfig string) (int64, error) {
	c, err := of(kubeconfig).Connect(kube.Options{})
	if err != nil {
		return 0, err
	}
	feed := c.Follow(context.Background(), kube.FollowOptions{})
	kept = engine.New()
	n := int64(0)
	for synced := feed.Synced(); ; {
		select {
		case e := <-feed.Events():
			kept.Observe(e)
			n++
			continue
		default:
		}
		if synced == nil {
			return n, nil
		}
		select {
		case e := <-feed.Events():
			kept.Observe(e)
			n++
		case <-synced:
			synced = nil
		}
	}
}

// memory is a line of what the system knows of the memory of the process, in KiB.
func memory(line string) (int64, error) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), line); ok {
			return strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		}
	}
	return 0, errors.New("the system does not say how much memory was used")
}

// cost runs a task in a process of its own.
func cost(b *testing.B, task string) (ms, kilobytes, read int64) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), taskVariable+"="+task+" "+plane.Kubeconfig)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%s: %v", task, err)
	}
	if _, err := fmt.Sscan(string(out), &ms, &kilobytes, &read); err != nil {
		b.Fatalf("%s: %q: %v", task, out, err)
	}
	return ms, kilobytes, read
}

// BenchmarkSnapshot compares a snapshot of a cluster with 21,000 config maps with a
// process that fetches the same lists and throws them away, and says what a
// followed object costs in resident memory, the graph included. The best of the
// runs count, since other work only ever adds.
func BenchmarkSnapshot(b *testing.B) {
	const objects, batch = 21_000, 1_000
	_, empty, _ := cost(b, taskFollow)
	for first := 0; first < objects; first += batch {
		var some []cluster.Stored
		for i := first; i < first+batch; i++ {
			some = append(some, cluster.Stored{Key: fmt.Sprintf("configmaps/default/cost-%05d", i), Manifest: fmt.Appendf(nil,
				`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cost-%05d","namespace":"default","uid":"00000000-0000-4000-8000-%012d","creationTimestamp":"2026-01-01T00:00:00Z",`+
					`"labels":{"app.kubernetes.io/name":"cost","app.kubernetes.io/instance":"cost-%d"},"annotations":{"example.com/digest":"%s"},`+
					`"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"owner-%d","uid":"00000000-0000-4000-9000-%012d","controller":true,"blockOwnerDeletion":true}],`+
					`"managedFields":[{"manager":"kubectl","operation":"Update","apiVersion":"v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:%s":{}}}}]},"data":{"key":"value"}}`,
				i, i, i/10, strings.Repeat("d", 64), i/10, i/10, strings.Repeat("k", 600))})
		}
		if err := plane.Store(some); err != nil {
			b.Fatal(err)
		}
	}
	best := map[string][2]int64{}
	for b.Loop() {
		for _, task := range []string{taskDiscard, taskSnapshot} {
			ms, kilobytes, read := cost(b, task)
			if read < objects {
				b.Fatalf("%s read %d", task, read)
			}
			have, ok := best[task]
			if !ok {
				have = [2]int64{ms, kilobytes}
			}
			best[task] = [2]int64{min(have[0], ms), max(have[1], kilobytes)}
		}
	}
	_, full, read := cost(b, taskFollow)
	if read < objects {
		b.Fatalf("followed %d", read)
	}
	b.ReportMetric(float64(full-empty)*1024/objects, "B/followed")
	b.ReportMetric(float64(best[taskSnapshot][0]), "ms/snapshot")
	b.ReportMetric(float64(best[taskDiscard][0]), "ms/discard")
	b.ReportMetric(float64(best[taskSnapshot][0])/float64(best[taskDiscard][0]), "ratio")
	b.ReportMetric(float64(best[taskSnapshot][1])/1024, "MB/snapshot")
	b.ReportMetric(float64(best[taskDiscard][1])/1024, "MB/discard")
}
