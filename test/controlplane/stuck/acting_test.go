package stuck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// others do what nobody else does here, until the context ends: the operators of the
// situation, and the kubelet of the node that is well.
func (w *foresight) others(ctx context.Context, t *testing.T) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w.kubelet(ctx)
		for i := range w.one.Made {
			if o := w.one.Made[i].Operator; o != nil && o.Acts != "" {
				w.operate(ctx, t, o)
			}
		}
	}
}

// kubelet ends the pods of the node that is well when they are being deleted.
func (w *foresight) kubelet(ctx context.Context) {
	text, err := plane.Do(ctx, http.MethodGet, "/api/v1/namespaces/"+w.one.Name+"/pods?fieldSelector=spec.nodeName=worker", "", nil)
	var pods struct{ Items []held }
	if err != nil || json.Unmarshal(text, &pods) != nil {
		return
	}
	for _, p := range pods.Items {
		if p.Metadata.DeletionTimestamp != "" {
			_, _ = plane.Do(ctx, http.MethodDelete, "/api/v1/namespaces/"+w.one.Name+"/pods/"+p.Metadata.Name, "application/json", []byte(`{"gracePeriodSeconds":0}`))
		}
	}
}

// held is an object, as far as an operator looks at it.
type held struct {
	Metadata struct {
		Name, DeletionTimestamp string
		Finalizers              []string
	}
}

// operate is one look of an operator at its objects: it renews its lease, and takes its
// finalizer off what is being deleted, when it may. It is not there without its pod.
func (w *foresight) operate(ctx context.Context, t *testing.T, o *operator) {
	in := o.In
	if in == "" {
		in = w.one.Name + "-system"
	}
	if _, err := plane.Do(ctx, http.MethodGet, "/api/v1/namespaces/"+in+"/pods/"+o.Name+"-0", "", nil); err != nil {
		return
	}
	renew := w.one.fill(body{"spec": body{"renewTime": "$now"}})
	if text, err := json.Marshal(renew); err == nil {
		_, _ = plane.Do(ctx, http.MethodPatch, collection("coordination.k8s.io/v1", "Lease", in)+"/"+o.Name, "application/merge-patch+json", text)
	}
	select {
	case <-w.act:
	default:
		return
	}
	for name, path := range w.one.places {
		if !strings.HasPrefix(name, "Database/") {
			continue
		}
		if err := w.free(ctx, path, in, o); err != nil && cluster.Code(err) != http.StatusNotFound && ctx.Err() == nil {
			t.Errorf("the operator: %v", err)
		}
	}
}

// free takes the finalizer of an operator off an object that is being deleted, with
// the operator's rights.
func (w *foresight) free(ctx context.Context, path, in string, o *operator) error {
	text, err := plane.Do(ctx, http.MethodGet, path, "", nil)
	var x held
	if err != nil || json.Unmarshal(text, &x) != nil || x.Metadata.DeletionTimestamp == "" {
		return err
	}
	rest := slices.DeleteFunc(x.Metadata.Finalizers, func(name string) bool { return name == o.Acts })
	if len(rest) == len(x.Metadata.Finalizers) {
		return nil
	}
	client, err := w.as(fmt.Sprintf("system:serviceaccount:%s:%s", in, o.Name))
	if err != nil {
		return err
	}
	change, err := json.Marshal(body{"metadata": body{"finalizers": rest}})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPatch, plane.URL+path, strings.NewReader(string(change)))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/merge-patch+json")
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusNotFound {
		return fmt.Errorf("%s: %s", path, answer.Status)
	}
	return answer.Body.Close()
}

// as is a client with the rights of a user.
func (w *foresight) as(user string) (*http.Client, error) {
	config, err := plane.Flags().ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: []string{"system:serviceaccounts", "system:authenticated"}}
	return rest.HTTPClientFor(config)
}

// renewing renews the leases of the node that is well and of the controller manager,
// until the test ends.
func (s *stage) renewing() {
	ctx, stop := context.WithCancel(s.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		none := &situation{}
		for {
			for _, path := range []string{"kube-node-lease/leases/worker", "kube-system/leases/kube-controller-manager"} {
				text, _ := json.Marshal(none.fill(body{"spec": body{"renewTime": "$now"}}))
				_, _ = plane.Do(ctx, http.MethodPatch, "/apis/coordination.k8s.io/v1/namespaces/"+path, "application/merge-patch+json", text)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	s.Cleanup(func() { stop(); <-ended })
}

// carried is a delete that the program carries out.
type carried struct {
	dir      string // of its backup
	cmd      *exec.Cmd
	out, err bytes.Buffer
	done     report.Run
}

// lift are the flags without which a namespace is not deleted: where an API is down, not all of its
// content can be listed.
const lift = "--unlock=namespace,pvc,unseen"

// deleteWithKubectl sends the delete as a person would.
func (w *foresight) deleteWithKubectl(ctx context.Context) error {
	_, err := plane.Kubectl(ctx, nil, "delete", w.target, "-n", w.one.Name, "--wait=false")
	return err
}

// flags are those with which the program shows what it would do, and does it.
func (c *carried) flags() []string {
	return []string{lift, "--backup-dir", c.dir, "--backup-secrets", "--timeout", cluster.Patience.String()}
}

// deleteWithGC has the program delete, and follow that for as long as it takes.
func (w *foresight) deleteWithGC(ctx context.Context) error {
	w.gc.cmd = w.command(ctx, append([]string{"delete", w.target, "--confirm", w.plan.Digest, "-o", "json"}, w.gc.flags()...)...)
	w.gc.cmd.Stdout, w.gc.cmd.Stderr = &w.gc.out, &w.gc.err
	return w.gc.cmd.Start()
}

// endGC waits for the end of the program. For what is foretold to stay it would wait for
// ever: it is interrupted, as everything is as foretold by now.
func (w *foresight) endGC(context.Context) error {
	if w.stays() || !w.asForetold(afterwards) {
		if err := w.gc.cmd.Process.Signal(os.Interrupt); err != nil {
			return fmt.Errorf("%s: the program has ended before: %w\n%s", w.one.Name, err, w.gc.err.String())
		}
	}
	err := w.gc.cmd.Wait()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return err
	}
	if err := json.Unmarshal(w.gc.out.Bytes(), &w.gc.done); err != nil {
		return fmt.Errorf("%s: delete: %w: %s", w.one.Name, err, w.gc.err.String())
	}
	return nil
}

// carriedOut looks at the report of the program.
func (w *foresight) carriedOut(t *testing.T) {
	t.Helper()
	code, state := 0, report.Complete
	if w.stays() {
		code, state = 130, report.Interrupted
	}
	d := &w.gc.done
	if got := w.gc.cmd.ProcessState.ExitCode(); got != code || d.State != state || len(d.Differences) > 0 || len(d.Surprises) > 0 {
		t.Errorf("delete: exit code %d and %s, want %d and %s; drift %+v, surprises %+v\n%s", got, d.State, code, state, d.Differences, d.Surprises, w.gc.err.String())
	}
}

// copies are the UIDs of the objects in the backups of a run.
func (w *foresight) copies(t *testing.T) (kept []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(w.gc.dir, "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var o struct{ Metadata struct{ UID string } }
		if err := json.Unmarshal(text, &o); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		kept = append(kept, o.Metadata.UID)
	}
	return kept
}
