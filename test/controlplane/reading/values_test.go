package reading

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
)

// value is in every Secret and ConfigMap of TestValuesStayUnread.
const value = "nobody has to read this value"

// TestValuesStayUnread: no answer to a question has the data of a Secret or ConfigMap, whatever it
// is about: one of them, what has one, what holds one, or everything.
func TestValuesStayUnread(t *testing.T) {
	encoded := base64.StdEncoding.EncodeToString([]byte(value))
	var manifest strings.Builder
	fmt.Fprintf(&manifest, `
{apiVersion: v1, kind: Namespace, metadata: {name: values}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: web, namespace: values}, secrets: [{name: token}]}
---
{apiVersion: v1, kind: Secret, metadata: {name: token, namespace: values, annotations: {kubernetes.io/service-account.name: web}}, type: kubernetes.io/service-account-token, data: {token: %[1]s}}
---
{apiVersion: v1, kind: Secret, metadata: {name: sh.helm.release.v1.web.v1, namespace: values, labels: {owner: helm, name: web}}, type: helm.sh/release.v1, data: {release: %[1]s}}
---
{apiVersion: v1, kind: Secret, metadata: {name: db, namespace: values, labels: {app: web}}, data: {password: %[1]s}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: values, labels: {app: web}}, data: {text: %[2]s}}
---
{apiVersion: v1, kind: Secret, metadata: {name: gone, namespace: values}, data: {password: %[1]s}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: gone, namespace: values}, data: {text: %[2]s}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: values}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web, envFrom: [{secretRef: {name: db}}, {configMapRef: {name: web}}]}]}}}}
`, encoded, value)
	for i := range 25 {
		fmt.Fprintf(&manifest, `---
{apiVersion: v1, kind: Secret, metadata: {name: held-%[1]d, namespace: values, labels: {held: "true"}, finalizers: [example.com/held]}, data: {password: %[2]s}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: held-%[1]d, namespace: values, labels: {held: "true"}, finalizers: [example.com/held]}, data: {text: %[3]s}}
`, i, encoded, value)
	}
	apply(t, manifest.String())
	for _, kind := range []string{"secret", "configmap"} {
		args := []string{"delete", kind, "-n", "values", "--wait=false", "gone"}
		for i := range 25 {
			args = append(args, fmt.Sprintf("held-%d", i))
		}
		if _, err := plane.Kubectl(t.Context(), nil, args...); err != nil {
			t.Fatal(err)
		}
	}
	const in = " -n values"
	for _, command := range []string{
		"explain secret/db" + in, "explain secret/token" + in, "explain configmap/web" + in, "explain secret/held-0" + in,
		"explain secret/sh.helm.release.v1.web.v1" + in, "explain namespace/values", "explain deployment/web" + in,
		"dry-run delete secret/db" + in, "dry-run delete secret/token" + in, "dry-run delete secret db token" + in,
		"dry-run delete secret/sh.helm.release.v1.web.v1" + in,
		"dry-run delete secret,configmap -l app=web" + in, "dry-run delete secret --all" + in, "dry-run delete configmap --all -A",
		"dry-run delete secret --field-selector=metadata.name=db" + in,
		"dry-run delete serviceaccount/web" + in, "dry-run delete namespace/values", "dry-run delete secret/held-0" + in,
		"delete secret/db --dry-run" + in, "delete secret --all --dry-run" + in, "delete namespace/values --unlock=namespace,unseen --dry-run",
		"remove-finalizer secret/held-0 example.com/held --dry-run" + in, "remove-finalizer secret example.com/held --all-of-kind --dry-run" + in,
		"remove-finalizer configmap example.com/held -l held --dry-run" + in, "collect --dry-run" + in,
		"stuck", "stuck secret/held-0" + in, "stuck namespace/values", "check", "check --references", "risk", "doctor",
		"graph" + in, "graph secret/db --uses" + in, "graph -A", "lost" + in, "lost -A", "lost namespace/values",
		"snapshot --to=" + filepath.Join(t.TempDir(), "saved"),
	} {
		t.Run(command, func(t *testing.T) {
			m, err := plane.Meter(value, encoded)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			var out, said bytes.Buffer
			args := append(append([]string{"kubectl-gc"}, strings.Fields(command)...), "--kubeconfig="+m.Kubeconfig, "--cache-dir="+t.TempDir())
			code := cli.Main(t.Context(), args, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &said})
			if code == 1 || code == 2 || len(m.Asked()) < 5 {
				t.Errorf("code %d after %d requests:\n%s", code, len(m.Asked()), said.Bytes())
			}
			for _, about := range m.Holding() {
				t.Errorf("%s was answered with a value", about)
			}
		})
	}
}
