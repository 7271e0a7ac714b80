package cluster

import (
	"bytes"
	"fmt"
	"io"
	stdlog "log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Meter counts what a client asks of an API server, by what kind of request it is.
type Meter struct {
	// Kubeconfig has the client ask through the meter.
	Kubeconfig string
	dir        string
	server     *http.Server
	mu         sync.Mutex
	sent       map[string]*amount
	asked      []string
	texts      []string
	holding    []string
}

type amount struct {
	requests int
	bytes    int64
}

// Meter stands between a client and the API server, and looks for the texts in the answers. It has
// to be closed.
func (c *Cluster) Meter(texts ...string) (*Meter, error) {
	server, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &Meter{sent: map[string]*amount{}, texts: texts}
	if m.dir, err = os.MkdirTemp("", "meter-"); err != nil {
		return nil, err
	}
	m.Kubeconfig = filepath.Join(m.dir, "kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: m\nclusters: [{name: m, cluster: {server: 'http://%s'}}]\ncontexts: [{name: m, context: {cluster: m}}]\n", l.Addr())
	if err := os.WriteFile(m.Kubeconfig, []byte(text), 0o600); err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{
		Transport: c.Client().Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			r.Out.Header.Set("Authorization", "Bearer "+c.Token)
			if len(texts) > 0 {
				r.Out.Header.Del("Accept-Encoding") // the transport decompresses what it asked for itself
			}
		},
		ModifyResponse: func(a *http.Response) error { a.Body = m.count(a.Request, a.Body); return nil },
		ErrorLog:       stdlog.New(io.Discard, "", 0), // of watches that are cut
		FlushInterval:  -1,                            // watches
	}
	m.server = &http.Server{Handler: proxy, ReadHeaderTimeout: time.Minute}
	go func() { _ = m.server.Serve(l) }() // ends with Close, and says so
	return m, nil
}

// Close ends it.
func (m *Meter) Close() {
	_ = m.server.Close()
	_ = os.RemoveAll(m.dir)
}

// kindOf says what a request is.
func kindOf(r *http.Request) string {
	words := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	q := r.URL.Query()
	past := ""
	if q.Get("resourceVersionMatch") == "Exact" || q.Get("continue") != "" {
		past = " of the past"
	}
	switch resource := words[len(words)-1]; {
	case len(words) < 3:
		return "discovery"
	case q.Get("watch") != "":
		return "watch"
	case q.Get("fieldSelector") != "":
		return "single object" + past
	case resource == "leases":
		return "list of leases" + past
	case past != "":
		return "list of " + resource + past
	default:
		return "get, list of now"
	}
}

func (m *Meter) count(r *http.Request, body io.ReadCloser) io.ReadCloser {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.sent[kindOf(r)]
	if a == nil {
		a = &amount{}
		m.sent[kindOf(r)] = a
	}
	a.requests++
	m.asked = append(m.asked, r.Method+" "+r.URL.Path)
	return &measured{ReadCloser: body, meter: m, to: a, about: r.Method + " " + r.URL.RequestURI()}
}

type measured struct {
	io.ReadCloser
	meter *Meter
	to    *amount
	about string
	read  []byte // if the meter looks for texts
}

// Read reads and counts.
func (b *measured) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.meter.mu.Lock()
	defer b.meter.mu.Unlock()
	b.to.bytes += int64(n)
	if len(b.meter.texts) > 0 {
		b.read = append(b.read, into[:n]...)
	}
	return n, err
}

// Close ends the answer, and notes it if a text was in it.
func (b *measured) Close() error {
	b.meter.mu.Lock()
	defer b.meter.mu.Unlock()
	for _, text := range b.meter.texts {
		if bytes.Contains(b.read, []byte(text)) {
			b.meter.holding = append(b.meter.holding, b.about)
			break
		}
	}
	b.read = nil
	return b.ReadCloser.Close()
}

// Holding lists the requests with a text in the answer, as GET /api/v1/secrets?limit=500.
func (m *Meter) Holding() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.holding)
}

// All is the number of requests, and of the bytes of their answers as they were sent.
func (m *Meter) All() (requests int, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.sent {
		requests, bytes = requests+a.requests, bytes+a.bytes
	}
	return requests, bytes
}

// Asked lists the requests, as GET /api/v1/pods.
func (m *Meter) Asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

// String is a line for each kind of request.
func (m *Meter) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var text strings.Builder
	var all amount
	for _, kind := range slices.Sorted(maps.Keys(m.sent)) {
		a := m.sent[kind]
		fmt.Fprintf(&text, "%6d %9d kB %s\n", a.requests, a.bytes>>10, kind)
		all.requests, all.bytes = all.requests+a.requests, all.bytes+a.bytes
	}
	fmt.Fprintf(&text, "%6d %9d kB in all", all.requests, all.bytes>>10)
	return text.String()
}

// Process is the process of the control plane that is called so; empty for none.
func (c *Cluster) Process(name string) string {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, line := range lines {
		text, err := os.ReadFile(line)
		if err == nil && bytes.Contains(text, []byte(name+"\x00")) && bytes.Contains(text, []byte(c.Directory)) {
			return filepath.Base(filepath.Dir(line))
		}
	}
	return ""
}

// Resident is what is resident of a process, in kilobytes.
func Resident(process string) int64 {
	text, err := os.ReadFile("/proc/" + process + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	n, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kilobytes, _ := strconv.ParseInt(n, 10, 64)
	return kilobytes
}

// Worked is for how long a process has worked.
func Worked(process string) time.Duration {
	text, err := os.ReadFile("/proc/" + process + "/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ") // behind its name
	var ticks int64
	for _, n := range strings.Fields(rest)[11:13] {
		t, _ := strconv.ParseInt(n, 10, 64)
		ticks += t
	}
	return time.Duration(ticks) * (time.Second / 100)
}
