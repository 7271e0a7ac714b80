package collecting

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

var resident = flag.Int("resident", 100_000, "objects for which the memory of a collector is measured")

// residentVariable makes the binary of the tests a collector that says how much
// memory it has when it has seen all that there is. It names the kubeconfig.
const residentVariable = "COLLECTING_RESIDENT"

// reside collects until everything was seen, and prints the resident kilobytes, as
// they are and after what is free was given back.
func reside(kubeconfig string) int {
	if err := settle(kubeconfig); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func settle(kubeconfig string) error {
	client, err := (&cluster.Cluster{Kubeconfig: kubeconfig}).Connect(kube.Options{})
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), cluster.Patience)
	defer stop()
	do := make(chan func(*engine.Collector))
	followed := make(chan *kube.Feed, 1)
	done := make(chan error, 1)
	go func() {
		done <- kube.Collect(ctx, client, kube.CollectorOptions{
			Follow: func(f *kube.Feed) { followed <- f }, Run: engine.RunOptions{Do: do},
		})
	}()
	var said error
	select {
	case <-(<-followed).Synced():
	case err := <-done:
		return err
	}
	// In the goroutine that owns the graph: nothing changes meanwhile.
	do <- func(*engine.Collector) {
		asIs, err := memory("self")
		debug.FreeOSMemory()
		freed, freedErr := memory("self")
		said = errors.Join(err, freedErr)
		fmt.Println(asIs, freed)
		stop()
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		return err
	}
	return said
}

// memory is what a process has, in kilobytes.
func memory(process string) (int64, error) {
	text, err := os.ReadFile(filepath.Join("/proc", process, "status"))
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(text), "VmRSS:")
	if !ok {
		return 0, errors.New("the system does not say how much memory is resident")
	}
	return strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
}

// ourMemory runs our collector in a process of its own.
func (s *stage) ourMemory() (asIs, freed int64) {
	s.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), residentVariable+"="+s.Kubeconfig)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(out), &asIs, &freed); err != nil {
		s.t.Fatalf("%q: %v", out, err)
	}
	return asIs, freed
}

// theirMemory is that of a controller manager with the collector alone, when it has
// seen all that there is.
func (s *stage) theirMemory() int64 {
	s.t.Helper()
	if err := s.Controllers("garbage-collector-controller"); err != nil {
		s.t.Fatal(err)
	}
	defer func() {
		if err := s.Controllers(); err != nil {
			s.t.Error(err)
		}
	}()
	s.fence("configmaps")
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, line := range lines {
		text, err := os.ReadFile(line)
		if err != nil || !bytes.Contains(text, []byte("kube-controller-manager\x00")) || !bytes.Contains(text, []byte(s.Directory)) {
			continue // or it has ended since
		}
		kilobytes, err := memory(filepath.Base(filepath.Dir(line)))
		if err != nil {
			s.t.Fatal(err)
		}
		return kilobytes
	}
	s.t.Fatal("the controller manager was not found")
	return 0
}

// BenchmarkResident measures what an object costs a collector in memory, from none to
// many: ours as it is right after the lists, and after what is free was given back,
// and that of Kubernetes.
func BenchmarkResident(b *testing.B) {
	for b.Loop() {
		resides(b)
	}
}

func resides(b *testing.B) {
	b.Helper()
	s := share(b)
	emptyAsIs, empty := s.ourMemory()
	theirEmpty := s.theirMemory()
	const batch = 1000
	for first := 0; first < *resident; first += batch {
		var some []cluster.Stored
		for i := first; i < min(first+batch, *resident); i++ {
			some = append(some, cluster.Stored{Key: fmt.Sprintf("configmaps/%s/resident-%06d", s.namespace, i), Manifest: fmt.Appendf(nil,
				`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"resident-%06d","namespace":%q,"uid":"00000000-0000-4000-8000-%012d","creationTimestamp":"2026-01-01T00:00:00Z",`+
					`"labels":{"app.kubernetes.io/name":"cost","app.kubernetes.io/instance":"cost-%d"},"annotations":{"example.com/digest":%q},`+
					`"ownerReferences":[{"apiVersion":"v1","kind":"Namespace","name":%q,"uid":%q,"controller":true,"blockOwnerDeletion":true}]}}`,
				i, s.namespace, i, i/10, strings.Repeat("d", 64), s.namespace, s.namespaceUID())})
		}
		if err := s.Store(some); err != nil {
			b.Fatal(err)
		}
	}
	defer func() {
		if err := s.Wipe("configmaps/" + s.namespace + "/resident-"); err != nil {
			b.Error(err)
		}
	}()
	s.until("the last one is served", func() bool { return !s.gone(s.at("configmaps", fmt.Sprintf("resident-%06d", *resident-1))) })
	fullAsIs, full := s.ourMemory()
	theirFull := s.theirMemory()
	b.Logf("kB: ours %d empty, %d with %d objects; as it is right after the lists %d and %d; upstream %d and %d",
		empty, full, *resident, emptyAsIs, fullAsIs, theirEmpty, theirFull)
	each := func(empty, full int64) float64 { return float64(full-empty) * 1024 / float64(*resident) }
	b.ReportMetric(each(empty, full), "B/object")
	b.ReportMetric(each(emptyAsIs, fullAsIs), "B/object-after-lists")
	b.ReportMetric(each(theirEmpty, theirFull), "B/object-upstream")
}

// namespaceUID is the uid of the stage's namespace, the owner of what costs memory.
func (s *stage) namespaceUID() string {
	s.t.Helper()
	if s.uid == "" {
		o, _ := s.get("/api/v1/namespaces/" + s.namespace)
		s.uid = o.UID
	}
	return s.uid
}
