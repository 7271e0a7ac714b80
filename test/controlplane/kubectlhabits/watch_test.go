package kubectlhabits

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// shown is what a terminal shows while a command runs.
type shown struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *shown) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(text)
}

func (s *shown) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestWatch: stuck --watch says what is stuck, and again when that changes, until it is
// interrupted.
func TestWatch(t *testing.T) {
	user(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out shown
	ended := make(chan int, 1)
	go func() {
		ended <- typed(ctx, "stuck cm -n payments -w", genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: io.Discard})
	}()
	cluster.Until(t, "it is said what is stuck", func() bool { return strings.Contains(out.String(), "cm/lock") })
	another := `{apiVersion: v1, kind: ConfigMap, metadata: {name: another, namespace: payments, finalizers: [example.com/hold]}}`
	for _, args := range [][]string{{"create", "-f", "-"}, {"delete", "configmap/another", "-n", "payments", "--wait=false"}} {
		if _, err := plane.Kubectl(t.Context(), []byte(another), args...); err != nil {
			t.Fatal(err)
		}
	}
	cluster.Until(t, "it is said that something has changed", func() bool { return strings.Contains(out.String(), "cm/another") })
	interrupt()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d", code)
	}
}
