package cluster

import (
	"bufio"
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// A control plane starts, answers, takes controllers, and leaves nothing behind.
func TestLife(t *testing.T) {
	c, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("release", func(t *testing.T) { released(t, c) })
	t.Run("stored bytes", func(t *testing.T) { storedBytes(t, c) })
	t.Run("backup", func(t *testing.T) { backup(t, c) })
	t.Run("unanswered", func(t *testing.T) { unanswered(t, c) })
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

// starter is the environment variable that has this binary start a cluster, say
// where, and give it commands until it is killed.
const starter = "CLUSTER_TEST_STARTER"

func TestMain(m *testing.M) {
	if os.Getenv(starter) != "" {
		c, err := Start()
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(c.Directory)
		for err == nil {
			err = c.Controllers("namespace-controller")
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// When a test is killed in the middle of everything, what it started ends by
// itself and cleans up.
func TestKilled(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), starter+"=1")
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dir, err := bufio.NewReader(output).ReadString('\n')
	if dir = strings.TrimSpace(dir); err != nil || dir == "" {
		t.Fatalf("%q: %v", dir, err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	Until(t, dir+" is removed", func() bool {
		_, err := os.Stat(dir)
		return os.IsNotExist(err)
	})
}

// What is put into storage is what the API server would have stored: to write it
// again unchanged changes nothing, not even the resourceVersion.
func storedBytes(t *testing.T, c *Cluster) {
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
	var text []byte
	err := Await(t.Context(), path+" is there", func(ctx context.Context) (ok bool, err error) {
		text, err = c.Do(ctx, http.MethodGet, path, "", nil)
		if Code(err) == http.StatusNotFound {
			return false, nil
		}
		return true, err
	})
	return text, err
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

// A control plane says that it is of the release whose module it is built from.
func released(t *testing.T, c *Cluster) {
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	built, err := buildinfo.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	from := ""
	for _, m := range built.Deps {
		if m.Path == "k8s.io/kubernetes" {
			from = m.Version
		}
	}
	if c.Release() != from || from == "" {
		t.Errorf("it is built from %q and says that it is %q", from, c.Release())
	}
	if m := c.Minor(); m < release.Oldest || m > release.Newest {
		t.Errorf("%s is %s, which nobody measures", c.Release(), m)
	}
}

// After a restore there is what there was at the time of the backup, in the same
// versions, at the same address; before a backup there is nothing to restore.
func backup(t *testing.T, c *Cluster) {
	if err := c.Restore(); err == nil {
		t.Error("a backup was restored that nobody made")
	}
	const all, one = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/configmaps/kept"
	kept, err := c.Do(t.Context(), http.MethodPost, all, "application/json", []byte(`{"metadata":{"name":"kept"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Backup(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), http.MethodDelete, one, "", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Restore(); err != nil {
		t.Fatal(err)
	}
	back, err := c.Do(t.Context(), http.MethodGet, one, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if v, w := version(t, kept), version(t, back); v != w {
		t.Errorf("it was at version %s and came back at %s", v, w)
	}
}

// noEndpoints is how releases say it: up to v1.33 and since.
var noEndpoints = regexp.MustCompile(`endpoints \\"deaf\\" not found|no endpoints available for service \\"deaf\\"`)

// What is served is found while an API is registered that does not answer; and a webhook
// without endpoints fails at once, whatever there is behind the address of its service.
func unanswered(t *testing.T, c *Cluster) {
	const apis = "/apis/apiregistration.k8s.io/v1/apiservices"
	const hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	send := func(method, path, body string) {
		t.Helper()
		if _, err := c.Do(t.Context(), method, path, "application/json", []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	send(http.MethodPost, "/api/v1/namespaces/default/services", `{"metadata":{"name":"deaf"},"spec":{"ports":[{"port":443}]}}`)
	send(http.MethodPost, apis, `{"metadata":{"name":"v1.deaf.example.com"},"spec":{"group":"deaf.example.com","version":"v1",
		"groupPriorityMinimum":1000,"versionPriority":15,"insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"deaf"}}}`)
	Until(t, "the API does not answer", func() bool {
		_, err := c.Do(t.Context(), http.MethodGet, "/apis/deaf.example.com/v1", "", nil)
		return Code(err) == http.StatusServiceUnavailable
	})
	if paths, err := c.Collections(t.Context()); err != nil || !slices.Contains(paths, "/api/v1/configmaps") {
		t.Errorf("collections are %v, %v", paths, err)
	}
	send(http.MethodDelete, apis+"/v1.deaf.example.com", "")
	if err := c.Whole(t.Context()); err != nil {
		t.Error(err)
	}

	send(http.MethodPost, hooks, `{"metadata":{"name":"deaf"},"webhooks":[{"name":"deaf.example.com","admissionReviewVersions":["v1"],"sideEffects":"None",
		"clientConfig":{"service":{"namespace":"default","name":"deaf"}},
		"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["secrets"]}]}]}`)
	Until(t, "the webhook is asked", func() bool {
		_, err := c.Do(t.Context(), http.MethodPost, "/api/v1/namespaces/default/secrets?dryRun=All", "application/json", []byte(`{"metadata":{"name":"new"}}`))
		if err != nil && !noEndpoints.MatchString(err.Error()) {
			t.Errorf("a webhook without endpoints: %v", err)
		}
		return err != nil
	})
	send(http.MethodDelete, hooks+"/deaf", "")
}
