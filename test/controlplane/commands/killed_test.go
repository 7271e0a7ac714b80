package commands

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/cli"
)

// killVariable names the point at which a process of a test kills itself; its
// command line follows the point, separated by line breaks.
const killVariable = "KUBECTL_GC_TEST_KILL"

// untilKilled is such a process. It is killed as by kill -9: nothing is flushed,
// nothing deferred.
func untilKilled(task string) int {
	words := strings.Split(task, "\n")
	ctx := apply.WithFailpoints(context.Background(), func(at string) {
		if at == words[0] {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	return cli.Main(ctx, words[1:], genericiooptions.IOStreams{In: strings.NewReader(""), Out: os.Stdout, ErrOut: os.Stderr})
}

// TestCollectKilled kills a run at each point at which that could matter, and runs
// it again: the end is the same, and nothing is gone that should not be.
func TestCollectKilled(t *testing.T) {
	points := []string{"before-backup", "after-backup"}
	for write := 1; write <= 4; write++ {
		for _, point := range []string{"before-intent", "before-write", "after-write", "before-journal-result", "after-journal-result"} {
			points = append(points, fmt.Sprintf("%s-%d", point, write))
		}
	}
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			s := enter(t)
			s.garbage("a", "b")
			before := s.world()
			s.killed(point, "collect", "-n", s.namespace, "--confirm="+s.digest())
			if again := s.gc(s.ctx, "collect", "-n", s.namespace, "--dry-run"); strings.Contains(again.stderr, "nothing to collect") {
				again.want(t, 0)
			} else {
				s.confirmed("collect", "-n", s.namespace).want(t, 0)
			}
			s.configMaps(living...)
			for _, name := range living {
				if is, was := s.world()["ConfigMap/"+name], before["ConfigMap/"+name]; is != was {
					t.Errorf("%s was written to: resourceVersion %s, was %s", name, is, was)
				}
			}
		})
	}
}

// killed runs a command that is killed at a point.
func (s *stage) killed(point string, args ...string) {
	s.t.Helper()
	program, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	words := slices.Concat([]string{point, "kubectl-gc"}, args, []string{"--kubeconfig=" + plane.Kubeconfig})
	cmd := exec.CommandContext(s.ctx, program)
	cmd.Env = append(os.Environ(), killVariable+"="+strings.Join(words, "\n"), "XDG_STATE_HOME="+s.state)
	out, err := cmd.CombinedOutput()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		s.t.Fatalf("%s: it was not killed: %v\n%s", point, err, out)
	}
}
