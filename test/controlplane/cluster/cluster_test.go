package cluster

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"
)

// A control plane starts, answers, takes controllers, and leaves nothing behind.
func TestLife(t *testing.T) {
	c, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), http.MethodGet, "/api/v1/namespaces/default", "", nil); err != nil {
		t.Error(err)
	}
	if err := c.Controllers("garbage-collector-controller"); err != nil {
		t.Error(err)
	}
	if err := c.Controllers(); err != nil {
		t.Error(err)
	}
	if err := c.Controllers("no-such-controller"); err == nil {
		t.Error("a controller that does not exist was started")
	}
	if err := c.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(c.Directory); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", c.Directory, err)
	}
}

// When the test is killed, what it started ends by itself: the pipe does, and no
// more of it is needed.
func TestEndOfInput(t *testing.T) {
	c, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Controllers("namespace-controller"); err != nil {
		t.Error(err)
	}
	if err := c.input.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(c.cmd.Process.Pid, 0); err == nil {
		t.Error("the process is still there")
	}
	if _, err := os.Stat(c.Directory); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", c.Directory, err)
	}
}

// What is put into storage is what the API server would have stored: to write it
// again unchanged changes nothing, not even the resourceVersion.
func TestStoredBytes(t *testing.T) {
	c, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	}()
	const meta = `"metadata":{"name":"x","namespace":"default","uid":"given","creationTimestamp":"2030-01-01T00:00:00Z",
"generation":1,
"finalizers":["example.com/hold"],"deletionTimestamp":"2030-01-01T00:00:00Z","deletionGracePeriodSeconds":0}`
	const tolerations = `"tolerations":[
{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},
{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]`
	for _, o := range []struct{ key, path, manifest string }{
		{"configmaps/default/x", "/api/v1/namespaces/default/configmaps/x", `{"apiVersion":"v1","kind":"ConfigMap",` + meta + `}`},
		{"secrets/default/x", "/api/v1/namespaces/default/secrets/x", `{"apiVersion":"v1","kind":"Secret",` + meta + `}`},
		{"pods/default/x", "/api/v1/namespaces/default/pods/x",
			`{"apiVersion":"v1","kind":"Pod",` + meta + `,"spec":{"containers":[{"name":"c","image":"i"}],` + tolerations + `}}`},
	} {
		manifest := bytes.ReplaceAll([]byte(o.manifest), []byte("\n"), nil)
		if err := c.Store([]Stored{{Key: o.key, Manifest: manifest}}); err != nil {
			t.Fatal(err)
		}
		before, err := get(t, c, o.path)
		if err != nil {
			t.Fatal(err)
		}
		after, err := c.Do(t.Context(), http.MethodPut, o.path, "application/json", before)
		if err != nil {
			t.Fatal(err)
		}
		if v, w := version(t, before), version(t, after); v != w {
			t.Errorf("%s: resourceVersion %s became %s\n%s\n%s", o.path, v, w, before, after)
		}
		if !bytes.Contains(after, []byte(`"uid":"given"`)) {
			t.Errorf("%s: the uid is not the given one: %s", o.path, after)
		}
	}
}

// get reads an object once the API server has noticed it.
func get(t *testing.T, c *Cluster, path string) ([]byte, error) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		text, err := c.Do(t.Context(), http.MethodGet, path, "", nil)
		if Code(err) != http.StatusNotFound || time.Now().After(deadline) {
			return text, err
		}
	}
}

func version(t *testing.T, object []byte) string {
	t.Helper()
	var o struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(object, &o); err != nil {
		t.Fatal(err)
	}
	return o.Metadata.ResourceVersion
}
