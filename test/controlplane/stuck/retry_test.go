package stuck

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// A namespace that an aggregated API held up, which is repaired: the condition says still
// that discovery failed, and the controller tries again within a minute. Whether it runs
// at all, its lease says.
func TestEndsAtTheNextRetry(t *testing.T) {
	s := &stage{T: t, ctx: context.WithoutCancel(t.Context())}
	const name = "retried"
	one := &situation{Name: name, places: map[string]string{}, uids: map[string]string{}}
	controller := lease("kube-system", "kube-controller-manager", "machine_1", "$now")
	err := one.create(s.ctx, "",
		body{"apiVersion": "v1", "kind": "Namespace", "metadata": body{"name": name}},
		body{"apiVersion": "v1", "kind": "Service", "metadata": body{"name": name, "namespace": "default"}, "spec": body{"ports": []any{body{"port": 443}}}},
		body{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": body{"name": "v1.retried.example.com"}, "spec": body{
			"group": "retried.example.com", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 15,
			"insecureSkipTLSVerify": true, "service": body{"namespace": "default", "name": name},
		}},
		controller)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Controllers(); err != nil { // situations begin without any
			t.Error(err)
		}
		for _, path := range []string{
			"/api/v1/namespaces/default/services/" + name, "/apis/apiregistration.k8s.io/v1/apiservices/v1.retried.example.com",
			collection("coordination.k8s.io/v1", "Lease", "kube-system") + "/kube-controller-manager",
		} {
			if _, err := plane.Do(background, http.MethodDelete, path, "", nil); err != nil && cluster.Code(err) != http.StatusNotFound {
				t.Error(err)
			}
		}
	})
	if err := plane.Controllers("namespace-controller"); err != nil {
		t.Fatal(err)
	}
	const at = "/api/v1/namespaces/" + name
	if _, err := plane.Do(s.ctx, http.MethodDelete, at, "", nil); err != nil {
		t.Fatal(err)
	}
	cluster.Until(t, "the controller says that discovery fails", func() bool {
		text, err := plane.Do(s.ctx, http.MethodGet, at, "", nil)
		return err == nil && bytes.Contains(text, []byte("DiscoveryFailed"))
	})
	// Nobody tries again before the questions are asked.
	if err := plane.Controllers(); err != nil {
		t.Fatal(err)
	}
	ask := func(want string, says ...string) {
		t.Helper()
		code, out, errOut := run("stuck", "-n", name, "-o", "json")
		var d report.Diagnosis
		if err := json.Unmarshal([]byte(out), &d); err != nil || len(d.Findings) != 1 {
			t.Fatalf("%v: exit code %d\n%s%s", err, code, out, errOut)
		}
		f := d.Findings[0]
		if f.Code != want || (code == 3) != (f.Severity == reason.Error) || d.Complete && f.Severity == reason.Warning || !d.Complete && f.Severity == reason.Info {
			t.Errorf("exit code %d, complete %t, %s (%s): %s; want %s", code, d.Complete, f.Code, f.Severity, f.Message, want)
		}
		for _, text := range says {
			if !strings.Contains(f.Message, text) {
				t.Errorf("%q is not said: %s", text, f.Message)
			}
		}
	}
	ask("APIServiceUnavailable")
	if _, err := plane.Do(s.ctx, http.MethodDelete, "/apis/apiregistration.k8s.io/v1/apiservices/v1.retried.example.com", "", nil); err != nil {
		t.Fatal(err)
	}
	ask("UnderWay", "ends by itself", "next retry of the namespace controller", "within 60s")
	renewed := func(when time.Time) {
		t.Helper()
		path := collection("coordination.k8s.io/v1", "Lease", "kube-system") + "/kube-controller-manager"
		change := body{"spec": body{"renewTime": when.UTC().Format("2006-01-02T15:04:05.000000Z")}}
		if _, err := send(s.ctx, http.MethodPatch, path, "application/merge-patch+json", change); err != nil {
			t.Fatal(err)
		}
	}
	renewed(time.Now().Add(-time.Hour))
	ask("ControllerNotWorking", "the namespace controller")
	if _, err := plane.Do(s.ctx, http.MethodDelete, collection("coordination.k8s.io/v1", "Lease", "kube-system")+"/kube-controller-manager", "", nil); err != nil {
		t.Fatal(err)
	}
	ask("EndNotSeen", "if it runs")

	if err := plane.Controllers("namespace-controller"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	cluster.Until(t, "the namespace is gone", func() bool {
		_, err := plane.Do(s.ctx, http.MethodGet, at, "", nil)
		return cluster.Code(err) == http.StatusNotFound
	})
	t.Logf("gone after %s", time.Since(began).Round(time.Second))
}
