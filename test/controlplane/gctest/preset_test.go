package gctest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
)

// TestPreset runs the collector for tests as a command, as tests in other languages do.
func TestPreset(t *testing.T) {
	s := enter(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	out, say := io.Pipe()
	var errors bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		args := []string{"kubectl-gc", "controller", "--preset=envtest", "--address=127.0.0.1:0", "--kubeconfig=" + plane.Kubeconfig}
		ended <- cli.Main(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: say, ErrOut: &errors})
		_ = say.Close()
	}()
	first, err := bufio.NewReader(out).ReadString('\n')
	url, ready := strings.CutPrefix(strings.TrimSpace(first), "ready ")
	if err != nil || !ready {
		t.Fatalf("it says %q, %v\n%s", first, err, errors.String())
	}
	ask := func(path string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	owner := s.configMap("owner", nil)
	s.configMap("dependent", []string{held}, owned(owner))
	s.remove("owner", metav1.DeletePropagationForeground)
	if code, text := ask("/settled?timeout=1m"); code != http.StatusOK || text != "settled\n" {
		t.Errorf("/settled: %d %s", code, text)
	}
	s.are("dependent owner")
	code, text := ask("/explain?apiVersion=v1&kind=ConfigMap&name=owner&namespace=" + s.namespace)
	if code != http.StatusOK || !strings.Contains(text, held) {
		t.Errorf("/explain: %d %s", code, text)
	}
	for path, want := range map[string]int{"/explain": 400, "/settled?timeout=never": 400, "/healthz": 200, "/other": 404} {
		if code, text := ask(path); code != want {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	s.release("dependent")
	if code, text := ask("/settled"); code != http.StatusOK {
		t.Errorf("/settled: %d %s", code, text)
	}
	s.are("")
	interrupt()
	if code := <-ended; code != 0 && code != 130 {
		t.Errorf("it ends with %d\n%s", code, errors.String())
	}
	http.DefaultClient.CloseIdleConnections()
}
