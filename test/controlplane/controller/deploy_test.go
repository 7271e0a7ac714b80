package controller

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

const account = "system:serviceaccount:kubectl-gc:kubectl-gc"

// kubectl runs kubectl as administrator.
func kubectl(t *testing.T, input []byte, args ...string) []byte {
	t.Helper()
	out, err := plane.Kubectl(context.WithoutCancel(t.Context()), input, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// apply applies a directory of deploy/, after the server has taken it on trial, and
// takes all of it away with the test.
func apply(t *testing.T, dir string) {
	t.Helper()
	dir = filepath.Join("..", "..", "..", dir)
	// What is in a namespace cannot be tried before the namespace is there.
	if get(t, "/api/v1/namespaces/kubectl-gc") == nil {
		post(t, "/api/v1/namespaces", body{"metadata": body{"name": "kubectl-gc"}})
	}
	kubectl(t, nil, "apply", "--dry-run=server", "--validate=strict", "-k", dir)
	kubectl(t, nil, "apply", "--validate=strict", "-k", dir)
	t.Cleanup(func() {
		for _, m := range documents(t, kubectl(t, nil, "kustomize", dir)) {
			if m["kind"] == "Namespace" {
				continue // without its controller it would never be gone
			}
			text, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			kubectl(t, text, "delete", "--ignore-not-found", "--wait=false", "-f", "-")
		}
	})
	for _, a := range []body{
		{"verb": "list", "resource": "configmaps"},
		{"verb": "create", "resource": "events"},
		{"verb": "create", "group": "coordination.k8s.io", "resource": "leases", "namespace": "kubectl-gc"},
	} {
		allowed(t, account, a)
	}
}

func documents(t *testing.T, text []byte) []body {
	t.Helper()
	var all []body
	for d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var m body
		if d.Decode(&m) != nil {
			return all
		}
		all = append(all, m)
	}
}

// deployed is the Deployment that was applied.
func deployed(t *testing.T) (template body, args []string) {
	t.Helper()
	text, err := ask(t, http.MethodGet, "/apis/apps/v1/namespaces/kubectl-gc/deployments/kubectl-gc", nil)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Spec struct {
			Template json.RawMessage
		}
	}
	var pod struct {
		Spec struct{ Containers []struct{ Args []string } }
	}
	for _, err := range []error{json.Unmarshal(text, &d), json.Unmarshal(d.Spec.Template, &pod), json.Unmarshal(d.Spec.Template, &template)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return template, pod.Spec.Containers[0].Args
}

// The manifests install; what they install passes the restricted profile; and the
// process, with the arguments and the rights that they give it, works.
func TestDeploy(t *testing.T) {
	namespace := space(t)
	configMap(t, namespace, "garbage", absent())
	apply(t, "deploy")
	template, args := deployed(t)
	template["metadata"].(body)["name"] = "probe"
	if _, err := ask(t, http.MethodPost, "/api/v1/namespaces/kubectl-gc/pods?dryRun=All", template); err != nil {
		t.Errorf("a pod of the template: %v", err)
	}
	// The namespace is as strict as it says.
	spec := template["spec"].(body)
	delete(spec["containers"].([]any)[0].(body), "securityContext")
	until(t, "a pod with more permissions is not admitted", func() bool {
		_, err := ask(t, http.MethodPost, "/api/v1/namespaces/kubectl-gc/pods?dryRun=All", template)
		return cluster.Code(err) == http.StatusForbidden
	})

	// Both are what the program itself calls the least.
	same(t, "viewer", printed(t, "--for", "controller"), "viewer.yaml")

	p := start(t, append(args[1:], "--as="+account, "--address=127.0.0.1:0", "--absent-owner-grace-period=0")...).collecting()
	until(t, "the garbage is looked at", func() bool {
		return p.metric("kubectl_gc_decisions_total", `reason="NoExistingOwner"`, `outcome="observed"`) >= 1
	})
	if n := p.metric("kubectl_gc_kinds", `state="broken"`); n != 0 {
		t.Errorf("%v kinds cannot be read", n)
	}
	until(t, "its event is there", func() bool {
		text, err := ask(t, http.MethodGet, "/api/v1/namespaces/"+namespace+"/events?fieldSelector=reason=NoExistingOwner", nil)
		return err == nil && bytes.Contains(text, []byte(`"involvedObject"`))
	})
	if get(t, path(namespace, "configmaps", "garbage")) == nil {
		t.Error("it collects")
	}
}

func TestDeployEnforce(t *testing.T) {
	namespace := space(t)
	configMap(t, namespace, "garbage", absent())
	apply(t, "deploy/enforce")
	_, args := deployed(t)
	if !slices.Contains(args, "--mode=enforce") {
		t.Errorf("the arguments are %v", args)
	}
	start(t, append(args[1:], "--as="+account, "--address=127.0.0.1:0", "--absent-owner-grace-period=0")...).collecting()
	until(t, "the garbage goes", func() bool { return get(t, path(namespace, "configmaps", "garbage")) == nil })

	// Under upstream rules it may look for another collector.
	p := start(t, append(args[1:], "--as="+account, "--address=127.0.0.1:0", "--rules=upstream", "--sync-period=1s")...)
	p.says("waiting for the lease")
	if left := count(t, "kubectl-gc", "kubectl-gc-canary-"); left != 0 {
		t.Errorf("%d canaries are left", left)
	}
}
