package kubectlhabits

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// shownBy is what a command that works shows.
func shownBy(t *testing.T, line string) string {
	t.Helper()
	var out, errOut bytes.Buffer
	if code := typed(t.Context(), line, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut}); code != 0 {
		t.Fatalf("%s: exit code %d\n%s", line, code, errOut.String())
	}
	return out.String()
}

func create(t *testing.T, manifests string) {
	t.Helper()
	if _, err := plane.Kubectl(t.Context(), []byte(manifests), "create", "-f", "-"); err != nil {
		t.Fatal(err)
	}
}

const databases = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: databases.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: databases, singular: database, kind: Database}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    additionalPrinterColumns:
    - {name: READY, type: string, jsonPath: .status.ready}
    - {name: Phase, type: string, jsonPath: .status.phase}
`

// TestGraphOfWhatIsReady: READY and STATUS are what the API server prints, of its own kinds
// and of others, unless metadata say more.
func TestGraphOfWhatIsReady(t *testing.T) {
	user(t)
	create(t, databases)
	cluster.Until(t, "databases are served", func() bool {
		_, err := plane.Kubectl(t.Context(), nil, "get", "databases", "-n", "shop")
		return err == nil
	})
	create(t, `
{apiVersion: example.com/v1, kind: Database, metadata: {name: orders, namespace: payments}, status: {ready: "False", phase: "Restoring\u001b[31m"}}
`)
	for line, wants := range map[string][]string{
		"graph deploy/web": {
			`NAME +READY +STATUS +AGE\n`, `deploy/web -n shop ← +0/2 +- +\d+s\n`, `└─ rs/web-\w+ +0/2 +- `, `   ├─ pod/web-\w+-\w+ +0/1 +Pending +\d+s\n`,
		},
		"graph pvc/data":                     {`pvc/data -n shop ← +Terminating,`},
		"graph database/orders -n payments":  {`database.example.com/orders -n payments ← +False +Restoring\\x1b\[31m`},
		"graph cm/lock -n payments":          {`NAME +STATUS +AGE\n`},
		"graph deploy/web -o wide":           {`NAME +READY +STATUS +AGE +UID\n`},
		"graph -A":                           {`deploy/web -n shop +0/2`},
		"graph pods x --owners --no-headers": {`^pod/x -n shop ← +0/1 +Pending`},
	} {
		out := shownBy(t, line)
		for _, want := range wants {
			if !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("%s: no %s in:\n%s", line, want, out)
			}
		}
	}
	if doc := shownBy(t, "graph deploy/web -o json"); strings.Contains(doc, "Pending") {
		t.Error("what is printed for people is in the document")
	}
}

// TestGraphOfMany: a namespace of many objects is a screen or two, which says how many there
// are; -o wide has them all.
func TestGraphOfMany(t *testing.T) {
	user(t)
	var b strings.Builder
	b.WriteString("{apiVersion: v1, kind: Namespace, metadata: {name: many}}\n")
	for i := range 40 {
		fmt.Fprintf(&b, `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app-%02d, namespace: many}
spec:
  replicas: 4
  selector: {matchLabels: {app: app-%02d}}
  template: {metadata: {labels: {app: app-%02d}}, spec: {automountServiceAccountToken: false, containers: [{name: c, image: c}]}}
`, i, i, i)
	}
	create(t, b.String())
	pods := func() int {
		names, err := plane.Kubectl(context.Background(), nil, "get", "pods", "-n", "many", "-o", "name")
		if err != nil {
			return -1
		}
		return bytes.Count(names, []byte("pod/"))
	}
	cluster.Until(t, "all pods are there", func() bool { return pods() == 160 })
	t.Cleanup(func() { // other tests look at all of the cluster
		if _, err := plane.Kubectl(context.Background(), nil, "delete", "deployments", "--all", "-n", "many", "--cascade=foreground", "--wait=false"); err != nil {
			t.Error(err)
		}
		cluster.Until(t, "all pods are gone", func() bool { return pods() == 0 })
	})
	out := shownBy(t, "graph ns/many")
	if n := strings.Count(out, "\n"); n > 60 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{"240 not ready.\n", " more Deployments, ", "Everything: -o wide\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if wide := shownBy(t, "graph ns/many -o wide"); strings.Count(wide, "pod/app-") != 160 {
		t.Errorf("-o wide has not all of them:\n%s", wide)
	}
}
