package past_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/kubectl-gc/kubectl-gc/internal/past"
)

// TestRead runs testdata/read: logs and the recorded requests.
//
//	read [from=TIME] [to=TIME]    the input is a log; it is read with a name of its own
//	again                         the input is a further log
func TestRead(t *testing.T) {
	datadriven.Walk(t, "testdata/read", func(t *testing.T, path string) {
		var log *past.AuditLog
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "read" {
				log = &past.AuditLog{}
			}
			window := past.LogWindow{From: moment(t, d, "from"), To: moment(t, d, "to")}
			input := strings.TrimSuffix(d.Input, "\n")
			if !d.HasArg("cut") {
				input += "\n"
			}
			if err := log.Read("audit.log", strings.NewReader(input), window); err != nil {
				return "error: " + err.Error() + "\n"
			}
			return tellRequests(log)
		})
	})
}

func moment(t *testing.T, d *datadriven.TestData, name string) int64 {
	t.Helper()
	if !d.HasArg(name) {
		return 0
	}
	var text string
	d.ScanArgs(t, name, &text)
	at, err := time.Parse(time.RFC3339, "2026-11-24T"+text+"Z")
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMicro()
}

func tellRequests(l *past.AuditLog) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s to %s", clock(l.First), clock(l.Last))
	if len(l.Truncated) > 0 {
		fmt.Fprintf(&b, ", cut off: %s", l.Truncated)
	}
	b.WriteString("\n")
	for i := range l.Requests {
		r := &l.Requests[i]
		fmt.Fprintf(&b, "%s %s %s %s/%s at %s by %s", r.ID, r.Verb, r.Resource, r.Namespace, r.Name, clock(r.Received), r.User)
		if r.Impersonated != "" {
			fmt.Fprintf(&b, " as %s", r.Impersonated)
		}
		if name, ok := r.Controller(); ok {
			fmt.Fprintf(&b, " (%s)", name)
		}
		fmt.Fprintf(&b, " %q %s", r.Agent, r.Addresses)
		if r.Options == nil {
			b.WriteString(" options unknown")
		} else {
			fmt.Fprintf(&b, " policy=%s", r.Options.Policy)
			if r.Options.Grace != nil {
				fmt.Fprintf(&b, " grace=%d", *r.Options.Grace)
			}
		}
		if r.Labels != nil && !r.Labels.Empty() || r.Fields != nil && !r.Fields.Empty() {
			fmt.Fprintf(&b, " labels=%s fields=%s", r.Labels, r.Fields)
		}
		if r.UIDs != nil {
			fmt.Fprintf(&b, " uids=%s", r.UIDs)
		}
		if r.Removed {
			b.WriteString(" removed")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func clock(micros int64) string {
	if micros == 0 {
		return "-"
	}
	return time.UnixMicro(micros).UTC().Format("15:04:05.000000")
}

const line = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"%d","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/shop/configmaps/a","verb":"delete","user":{"username":"alice"},"objectRef":{"resource":"configmaps","namespace":"shop","name":"a","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":200},"requestReceivedTimestamp":"2026-11-24T03:34:30.517816Z","stageTimestamp":"2026-11-24T03:34:30.520272Z"}` + "\n"

// TestGzip reads a gzipped log of two members, as if two files were concatenated.
func TestGzip(t *testing.T) {
	var b bytes.Buffer
	for i := range 2 {
		z := gzip.NewWriter(&b)
		_, _ = fmt.Fprintf(z, line, i)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var l past.AuditLog
	if err := l.Read("audit.log.gz", bytes.NewReader(b.Bytes()), past.LogWindow{}); err != nil || len(l.Requests) != 2 {
		t.Errorf("%v: %d requests", err, len(l.Requests))
	}
	err := (&past.AuditLog{}).Read("audit.log.gz", bytes.NewReader(b.Bytes()[:b.Len()-20]), past.LogWindow{})
	if err == nil || !strings.HasPrefix(err.Error(), "audit.log.gz, line 2: ") {
		t.Errorf("a file that is cut off: %v", err)
	}
}

// endless is a text without end.
type endless struct{ part string }

func (e endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], e.part)
	}
	return n, nil
}

// TestBounds: an endless token is an error, and takes no more memory than its limit.
func TestBounds(t *testing.T) {
	for _, c := range []struct{ before, part string }{{`{"verb":"`, "x"}, {"", " \n"}, {`{"code":`, "1"}} {
		in := readers{strings.NewReader(c.before), endless{c.part}}
		err := (&past.AuditLog{}).Read("-", &in, past.LogWindow{})
		if err == nil || !strings.Contains(err.Error(), "more than 16 MiB") {
			t.Errorf("%q: %v", c.part, err)
		}
	}
}

type readers [2]interface{ Read([]byte) (int, error) }

func (r *readers) Read(p []byte) (int, error) {
	if n, err := r[0].Read(p); err == nil {
		return n, nil
	}
	return r[1].Read(p)
}

// FuzzRead: nothing panics, and an error names the file and one of its lines.
func FuzzRead(f *testing.F) {
	f.Add([]byte(fmt.Sprintf(line, 1)))
	f.Add([]byte(`{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[` + fmt.Sprintf(line, 1) + `]}`))
	for _, name := range []string{"events", "errors"} {
		text, err := os.ReadFile("testdata/read/" + name)
		if err != nil {
			f.Fatal(err)
		}
		for one := range strings.SplitSeq(string(text), "read") {
			log, _, _ := strings.Cut(one, "----")
			f.Add([]byte(strings.TrimSpace(log)))
		}
	}
	f.Add([]byte(`{"items":[{"verb":"deletecollection","requestURI":"/a?labelSelector=a!%3Db","stage":"ResponseComplete"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var l past.AuditLog
		err := l.Read("audit.log", bytes.NewReader(text), past.LogWindow{})
		if err == nil {
			return
		}
		var n int
		if _, bad := fmt.Sscanf(err.Error(), "audit.log, line %d:", &n); bad != nil && !strings.HasPrefix(err.Error(), "audit.log: ") {
			t.Errorf("no place in %q", err)
		}
		if lines := 1 + bytes.Count(text, []byte("\n")); n > lines && !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
			t.Errorf("line %d of %d: %v", n, lines, err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	deleted := fmt.Sprintf(line, 1)
	text := strings.Repeat(deleted+strings.Repeat(strings.ReplaceAll(deleted, `"delete"`, `"update"`), 9), 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := (&past.AuditLog{}).Read("-", strings.NewReader(text), past.LogWindow{}); err != nil {
			b.Fatal(err)
		}
	}
}
