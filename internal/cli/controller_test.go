package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

// TestPresetAndReleases: a collector for tests warns about an untested release, and refuses an
// invalid one.
func TestPresetAndReleases(t *testing.T) {
	for version, c := range map[string]struct {
		ready bool
		said  string
	}{
		"v1.37.2":   {true, ""},
		"v1.99.0":   {true, "the rules of the nearest release"},
		"of my own": {false, "not a release of Kubernetes"},
	} {
		t.Run(version, func(t *testing.T) {
			rs := &object.Resources{}
			rs.Add(object.Resource{Version: "v1", Name: "namespaces", Singular: "namespace", Kind: "Namespace", Verbs: object.AllVerbs})
			some := &object.Object{Ref: object.Namespace.Ref("", "shop")} // an empty list has no version
			some.UID = "shop"
			simulated := facade.New([]*object.Object{some}, rs, facade.Documents(rs.All()))
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/version" {
					simulated.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"gitVersion":"` + version + `"}`))
			}))
			defer server.Close()
			defer server.CloseClientConnections()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			out, say := io.Pipe()
			var errs bytes.Buffer
			ended := make(chan int, 1)
			go func() {
				args := []string{"kubectl-gc", "controller", "--preset=envtest", "--address=", "--server=" + server.URL}
				ended <- cli.Main(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: say, ErrOut: &errs})
				_ = say.Close()
			}()
			first, _ := bufio.NewReader(out).ReadString('\n') // empty if it does not start
			interrupt()
			code := <-ended
			if (first == "ready\n") != c.ready || !c.ready && code == 0 {
				t.Errorf("it says %q and ends with %d", first, code)
			}
			if !strings.Contains(errs.String(), c.said) || c.said == "" && errs.Len() > 0 {
				t.Errorf("it says %q", errs.String())
			}
		})
	}
}
