package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/shapes"
)

// writePages has the command write each page, and the document that it shows.
func writePages(t *testing.T, dir string) {
	t.Helper()
	hostile, err := filepath.Abs("testdata/hostile.json")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string][]string{
		"cluster":      {"graph", "--from", "examples/cluster.yaml"},
		"plan":         {"dry-run", "delete", "deployment/web", "-n", "shop", "--cascade=foreground", "--from", "examples/shop.yaml"},
		"orphan":       {"dry-run", "delete", "deployment/web", "-n", "shop", "--cascade=orphan", "--from", "examples/shop.yaml"},
		"namespace":    {"dry-run", "delete", "namespace/shop", "--from", "examples/shop.yaml"},
		"explained":    {"explain", "namespace/payments", "--from", "examples/trouble"},
		"collect":      {"collect", "--from", "examples/garbage.yaml"},
		"hostile":      {"graph", "--from", hostile},
		"hostile-plan": {"dry-run", "delete", "configmap", "--all", "-A", "--from", hostile},
	}
	stuck := filepath.Join(dir, "hanging-dump.json")
	writeNamespace(t, stuck, 250)
	pages["hanging"] = []string{"dry-run", "delete", "namespace/pic", "--from", stuck}
	pages["events"] = []string{"dry-run", "delete", "events", "--all", "-n", "pic", "--from", stuck}
	fleet := filepath.Join(dir, "fleet-dump.json")
	writeFleet(t, fleet)
	pages["fleet"] = []string{"graph", "--from", fleet}
	many, err := shapes.Named("applications")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{10_000, 50_000} {
		name := fmt.Sprintf("many-%d", n)
		dump := filepath.Join(dir, name+"-dump.json")
		writeDump(t, dump, many.Cluster(n*6/5, 1).Objects) // a graph leaves out who has no owner and no dependent
		pages[name] = []string{"graph", "--from", dump}
		pages[name+"-plan"] = []string{"dry-run", "delete", "deployments.apps,widgets.example.com,configmaps,persistentvolumeclaims", "--all", "-A", "--from", dump}
	}
	t.Chdir("../..")
	for _, n := range []string{"60", "5000"} {
		for _, format := range []string{"html", "json"} {
			text, err := exec.CommandContext(t.Context(), "go", "run", "./test/browser/lostpage", n, format).Output()
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "lost-"+n+"."+format), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, args := range pages {
		// One process writes all pages: what earlier ones held may not be collected yet.
		args = append(args, "--max-memory=4G")
		output(t, filepath.Join(dir, name+".html"), append(args, "-o", "html"))
		if args[0] == "dry-run" || args[0] == "collect" {
			args = append(args, "--steps")
		}
		output(t, filepath.Join(dir, name+".json"), append(args, "-o", "json"))
	}
}

// writeNamespace writes the dump of a namespace with n objects that hangs when it is deleted.
func writeNamespace(t *testing.T, file string, n int) {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "node", "namespace.mjs", strconv.Itoa(n)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// output runs a command line of kubectl gc, and keeps what it prints.
func output(t *testing.T, file string, args []string) {
	t.Helper()
	var out, errors bytes.Buffer
	code := cli.Main(t.Context(), append([]string{"kubectl-gc"}, args...), genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errors})
	if code != 0 || out.Len() == 0 {
		t.Fatalf("kubectl gc %q: exit code %d, %d bytes: %s", args, code, out.Len(), errors.String())
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

type item struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
}

type metadata struct {
	Name            string      `json:"name"`
	Namespace       string      `json:"namespace,omitempty"`
	UID             string      `json:"uid"`
	ResourceVersion string      `json:"resourceVersion"`
	Deleted         string      `json:"deletionTimestamp,omitempty"`
	Finalizers      []string    `json:"finalizers,omitempty"`
	OwnerReferences []reference `json:"ownerReferences,omitempty"`
}

type reference struct {
	APIVersion         string `json:"apiVersion"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	UID                string `json:"uid"`
	Controller         bool   `json:"controller"`
	BlockOwnerDeletion bool   `json:"blockOwnerDeletion"`
}

// writeDump writes what a metadata-only list would have.
func writeDump(t *testing.T, file string, objects []*object.Object) {
	t.Helper()
	items := make([]item, 0, len(objects))
	for _, o := range objects {
		m := metadata{Name: o.Name, Namespace: o.Namespace, UID: string(o.UID), ResourceVersion: o.ResourceVersion}
		for _, r := range o.Owners {
			m.OwnerReferences = append(m.OwnerReferences, reference{r.APIVersion, r.Kind, r.Name, string(r.UID), true, true})
		}
		items = append(items, item{o.APIVersion, o.Kind, m})
	}
	writeItems(t, file, items)
}

// writeFleet writes a deployment with 300 replica sets of three pods each. A pod of every
// other one is being deleted, and its finalizer holds it.
func writeFleet(t *testing.T, file string) {
	t.Helper()
	made := func(apiVersion, kind, name string, owner *item) item {
		m := metadata{Name: name, Namespace: "shop", UID: "uid-of-" + kind + "-" + name, ResourceVersion: "1"}
		if owner != nil {
			m.OwnerReferences = []reference{{owner.APIVersion, owner.Kind, owner.Metadata.Name, owner.Metadata.UID, true, true}}
		}
		return item{apiVersion, kind, m}
	}
	web := made("apps/v1", "Deployment", "web", nil)
	items := []item{web}
	for i := range 300 {
		set := made("apps/v1", "ReplicaSet", fmt.Sprintf("web-%03d", i), &web)
		items = append(items, set)
		for k := range 3 {
			pod := made("v1", "Pod", fmt.Sprintf("web-%03d-%d", i, k), &set)
			if k == 0 && i%2 == 1 {
				pod.Metadata.Deleted, pod.Metadata.Finalizers = "2026-05-31T00:00:00Z", []string{"example.com/hold"}
			}
			items = append(items, pod)
		}
	}
	writeItems(t, file, items)
}

func writeItems(t *testing.T, file string, items []item) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
