// Package lost tries on a real control plane what is said of who took what is gone: many
// random states, a few deletes in each by a plain client, and the audit log as the judge.
package lost

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// plane is the control plane of all tests.
var plane *cluster.Cluster

// deleters are the controllers that act beside those who delete by hand: all that make or
// delete something of what is drawn here.
var deleters = []string{
	"garbage-collector-controller", "namespace-controller", "deployment-controller", "replicaset-controller",
	"job-controller", "serviceaccount-controller", "root-ca-certificate-publisher-controller",
	"endpoints-controller", "endpointslice-controller", "endpointslice-mirroring-controller",
	"persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller",
	"persistentvolume-binder-controller", "pod-garbage-collector-controller",
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(cluster.Main(m, &plane, cluster.Audit))
}

// connect is a client of the program that has discovered the plane.
func connect(ctx context.Context) (*kube.Client, error) {
	c, err := plane.Connect(kube.Options{Version: "test", Command: "lost"})
	if err != nil {
		return nil, err
	}
	_, err = c.Discover(ctx)
	return c, err
}

// answer is what an API server says, as far as anybody here cares.
type answer struct {
	code     int
	Kind     string
	Metadata struct {
		UID, ResourceVersion, DeletionTimestamp string
		OwnerReferences                         []struct{ Kind, Name string }
	}
}

// send sends a request, in the name of somebody whom the audit log shall show.
func send(ctx context.Context, user, method, path string, body any) (answer, error) {
	head := http.Header{}
	if user != "" {
		head.Set("Impersonate-User", user)
		head.Set("Impersonate-Group", "system:masters")
	}
	return sendWith(ctx, head, method, path, body)
}

// sendWith sends a request with headers, as administrator unless they say otherwise.
func sendWith(ctx context.Context, head http.Header, method, path string, body any) (answer, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return answer{}, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, plane.URL+path, bytes.NewReader(text))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Authorization", "Bearer "+plane.Token)
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	maps.Copy(request.Header, head)
	got, err := plane.Client().Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = got.Body.Close() }()
	text, err = io.ReadAll(got.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{code: got.StatusCode}
	if !strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
		return a, nil // a path that is not served
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("%s %s: %w: %s", method, path, err, text)
	}
	return a, nil
}
