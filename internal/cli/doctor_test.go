package cli

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

const emptyGraph = "strict digraph full {\n}\n"

// written writes a file and returns its path.
func written(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// The endpoint is requested with the given token, and verified by the given certificates. The token
// never follows a redirect.
func TestGraphFromURL(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s was asked, with %q", r.URL, r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	endpoint := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/elsewhere":
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		case r.URL.Path != "/graph":
			http.NotFound(w, r)
		case r.Header.Get("Authorization") == "Bearer secret":
			_, _ = w.Write([]byte(emptyGraph))
		default:
			http.Error(w, "Forbidden", http.StatusForbidden)
		}
	}))
	defer endpoint.Close()
	token := written(t, "secret\n")
	own := written(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: endpoint.Certificate().Raw})))
	for name, c := range map[string]struct {
		from, token, ca string
		want            string // of the error
	}{
		"loopback":        {endpoint.URL + "/graph", token, "", ""},
		"verified":        {endpoint.URL + "/graph", token, own, ""},
		"no token":        {endpoint.URL + "/graph", "", "", "refused (403): give a token with --graph-token-file"},
		"a wrong token":   {endpoint.URL + "/graph", written(t, "other"), "", "refused"},
		"no such token":   {endpoint.URL + "/graph", "/does/not/exist", "", "/does/not/exist"},
		"another path":    {endpoint.URL + "/metrics", token, "", "not found: the path ends in /debug/controllers/garbage-collector-controller/graph"},
		"a redirect":      {endpoint.URL + "/elsewhere", token, "", "answered 302"},
		"no certificates": {endpoint.URL + "/graph", token, token, "no certificate in it"},
		"nobody there":    {"https://127.0.0.1:1/graph", token, "", "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &graphSource{from: c.from, tokenFile: c.token, caFile: c.ca}
			if err := b.check(&cobra.Command{}); err != nil {
				t.Fatal(err)
			}
			got, err := b.first(t.Context(), nil, nil, true)
			switch {
			case c.want == "" && (err != nil || !got.Live || len(got.Read) != 1):
				t.Errorf("%+v, %v", got, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// Only an endpoint on this machine is trusted without a certificate.
func TestGraphTrust(t *testing.T) {
	for at, skips := range map[string]bool{
		"https://127.0.0.1:10257/graph": true, "https://localhost:10257/graph": true, "https://[::1]:10257/graph": true,
		"https://10.0.0.1:10257/graph": false, "https://localhost.example.com/graph": false, "https://127.0.0.1.example.com/graph": false,
	} {
		b := &graphSource{from: at}
		if err := b.check(&cobra.Command{}); err != nil {
			t.Fatal(err)
		}
		if config, err := b.trust(); err != nil || config.InsecureSkipVerify != skips {
			t.Errorf("%s: %v, %v", at, config, err)
		}
	}
}

// The graph of a running collector is read again; a file and a pipe are read once.
func TestGraphAgain(t *testing.T) {
	asked := 0
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = w.Write([]byte(emptyGraph))
	}))
	defer endpoint.Close()
	for name, c := range map[string]struct {
		from string
		live bool
		want int
	}{
		"a URL": {endpoint.URL, true, 2}, "a URL beside a dump": {endpoint.URL, false, 1},
		"a file": {written(t, emptyGraph), true, 1}, "a pipe": {"-", true, 1},
	} {
		b := &graphSource{from: c.from}
		if err := b.check(&cobra.Command{}); err != nil {
			t.Fatal(err)
		}
		got, err := b.first(t.Context(), nil, strings.NewReader(emptyGraph), c.live)
		if err == nil {
			got, err = b.again(t.Context(), nil, got)
		}
		if err != nil || len(got.Read) != c.want || got.Live != (c.want == 2) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if asked != 3 {
		t.Errorf("asked %d times", asked)
	}
}
