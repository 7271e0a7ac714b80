// Package breaking compares what a plan says about objects that stay and stop working with what an API
// server and its controllers do after the delete.
package breaking

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/util/cert"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// stage is the control plane, the server that it calls, and a proxy through which the program reads.
var stage struct {
	*cluster.Cluster
	port, ca string
}

func TestMain(m *testing.M) {
	server, err := newCalled()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	socket, err := newProxy(server.Listener.Addr().String())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := cluster.Main(m, &stage.Cluster, cluster.Proxy(socket), cluster.Admission("ServiceAccount"))
	server.Close()
	_ = os.RemoveAll(filepath.Dir(socket))
	os.Exit(code)
}

var controllers = sync.OnceValue(func() error {
	return stage.Controllers(
		"serviceaccount-controller", "namespace-controller", "garbage-collector-controller", "endpointslice-controller", "replicaset-controller",
		"persistentvolume-binder-controller", "persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller",
		"horizontal-pod-autoscaler-controller", "resourceclaim-controller",
	)
})

// newCalled starts the server of the webhooks and of the aggregated API: it admits everything but at /deny, and
// converts everything.
func newCalled() (*httptest.Server, error) {
	var names []string
	for n := range len(situations) + len(takings) + len(freeings) {
		names = append(names, "hook."+namespace(n)+".svc")
	}
	chain, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, names)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, err
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(answer))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the API server also only looks whether it listens
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	stage.ca = base64.StdEncoding.EncodeToString(chain)
	_, stage.port, err = net.SplitHostPort(server.Listener.Addr().String())
	return server, err
}

// address is that of the endpoints, for documentation only: the proxy has the API server reach the server in its
// place.
const address = "192.0.2.1"

// newProxy starts the proxy of cluster.Proxy, and returns its socket. It connects everybody to one address, until
// the process ends.
func newProxy(to string) (socket string, err error) {
	dir, err := os.MkdirTemp("", "breaking")
	if err != nil {
		return "", err
	}
	socket = filepath.Join(dir, "proxy")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return "", err
	}
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:errcheck,gosec // it ends with the process
		called, err := net.Dial("tcp", to)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer called.Close()
		caller, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer caller.Close()
		_, _ = io.WriteString(caller, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			_, _ = io.Copy(called, buffered)
			_ = called.Close()
		}()
		_, _ = io.Copy(caller, called)
	}))
	return socket, nil
}

// fill replaces the capital words of manifests.
func fill(text, ns string) string {
	return strings.NewReplacer("NAMESPACE", ns, "HOST", address, "PORT", stage.port, "CABUNDLE", stage.ca, "VALUE", value).Replace(text)
}

// calls counts the requests of webhooks.
var calls atomic.Int64

func answer(w http.ResponseWriter, r *http.Request) {
	var review struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Request    struct {
			UID     string           `json:"uid"`
			Desired string           `json:"desiredAPIVersion"`
			Objects []map[string]any `json:"objects"`
		} `json:"request"`
	}
	_ = json.NewDecoder(r.Body).Decode(&review)
	var says any
	switch review.Kind {
	case "AdmissionReview":
		calls.Add(1)
		says = map[string]any{"apiVersion": review.APIVersion, "kind": review.Kind, "response": map[string]any{"uid": review.Request.UID, "allowed": r.URL.Path != "/deny"}}
	case "ConversionReview":
		for _, o := range review.Request.Objects {
			o["apiVersion"] = review.Request.Desired
		}
		says = map[string]any{"apiVersion": review.APIVersion, "kind": review.Kind, "response": map[string]any{
			"uid": review.Request.UID, "convertedObjects": review.Request.Objects, "result": map[string]any{"status": "Success"},
		}}
	default:
		says = json.RawMessage(`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"called.example.com/v1","resources":[]}`)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(says)
}

// reader is a proxy that looks at what the program reads.
type reader struct {
	*httptest.Server
	mu sync.Mutex
	// values are the requests whose answers have the value of a Secret or ConfigMap. metadata and whole are
	// those for Secrets.
	values, metadata, whole []string
}

// The value of each Secret and ConfigMap, as JSON and protobuf have it.
const value, encoded = "hunter2", "aHVudGVyMg"

func newReader(t *testing.T) *reader {
	t.Helper()
	to, err := url.Parse(stage.URL)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{}
	r.Server = httptest.NewServer(&httputil.ReverseProxy{
		Transport: stage.Client().Transport,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(to)
			p.Out.Header.Set("Authorization", "Bearer "+stage.Token)
			p.Out.Header.Set("Accept-Encoding", "identity")
		},
		ModifyResponse: r.look,
	})
	t.Cleanup(r.Close)
	return r
}

func (r *reader) look(a *http.Response) error {
	text, err := io.ReadAll(a.Body)
	if err != nil {
		return err
	}
	_ = a.Body.Close()
	a.Body = io.NopCloser(bytes.NewReader(text))
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := a.Request.Method + " " + a.Request.URL.Path
	if bytes.Contains(text, []byte(value)) || bytes.Contains(text, []byte(encoded)) {
		r.values = append(r.values, a.Request.URL.Path)
	}
	switch isSecret := strings.Contains(a.Request.URL.Path+"/", "/secrets/"); {
	case isSecret && strings.Contains(a.Request.Header.Get("Accept"), "PartialObjectMetadata"):
		r.metadata = append(r.metadata, asked)
	case isSecret:
		r.whole = append(r.whole, asked)
	}
	return nil
}

// program runs the program, and returns what it prints.
func (r *reader) program(t *testing.T, args ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	nothing := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(nothing, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", nothing)
	var out, errOut bytes.Buffer
	args = append([]string{"kubectl-gc", "--server=" + r.URL, "--cache-dir=" + dir}, args...)
	if code := cli.Main(t.Context(), args, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut}); code != 0 && code != 3 {
		t.Fatalf("%q: code %d: %s%s", args, code, out.String(), errOut.String())
	}
	return out.Bytes()
}

// The requests of judges.

func post(ctx context.Context, path, body string) ([]byte, error) {
	return stage.Do(ctx, http.MethodPost, path, "application/json", []byte(body))
}

// read reads a part of an object.
func read[T any](ctx context.Context, path string) (T, error) {
	var into T
	text, err := stage.Do(ctx, http.MethodGet, path, "", nil)
	return into, errors.Join(err, json.Unmarshal(text, &into))
}
