package main

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestPinned: every function that is said to be reproduced is one of the version whose
// control plane the tests run.
func TestPinned(t *testing.T) {
	repository := os.DirFS("../..")
	markers, err := scan(repository)
	if err != nil {
		t.Fatal(err)
	}
	if len(markers) < 150 {
		t.Fatalf("%d markers: the tree was not read", len(markers))
	}
	version, err := pinned(repository)
	if err != nil {
		t.Fatal(err)
	}
	source, err := download(version, markers)
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := missing(markers, source)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range wrong {
		t.Errorf("%s in %s", m, version)
	}
}

// TestVersion: what says which version is reproduced, by its whole number or without the
// last one, names the one whose control plane the tests run.
func TestVersion(t *testing.T) {
	repository := os.DirFS("../..")
	version, err := pinned(repository)
	if err != nil {
		t.Fatal(err)
	}
	number := strings.TrimPrefix(version, "v1.")
	minor, _, _ := strings.Cut(number, ".")
	for file, want := range map[string]string{
		"cmd/kubectl-gc/go.mod": "k8s.io/client-go v0." + number + "\n", "test/release/chart/go.mod": "k8s.io/client-go v0." + number + "\n",
		"examples/envtest/go.mod":    "k8s.io/client-go v0." + number + "\n",
		"examples/kwok/go.mod":       "k8s.io/client-go v0." + number + " ",
		"internal/report/version.go": `"v1.` + number + `"`, "docs/adr/0007-releases.md": "v1." + number + " is reproduced",
		"README.md": "to v1." + minor + "]", "docs/controller.md": "Kubernetes v1." + minor + " ", "docs/testing.md": "v1." + number + " inside",
		"docs/spec/README.md": "Kubernetes v1." + number, "docs/spec/overview.md": "v1." + number, "docs/spec/prediction.md": "table of 1." + minor,
		"hack/semantics/table.go": "Kubernetes v1." + number, "hack/inventory/table.go": "Kubernetes v1." + minor + " ",
		"internal/apisim/doc.go": "Kubernetes 1." + minor, "internal/snapshot/builtin.go": "before 1." + minor,
		"internal/snapshot/builtin.txt": "Kubernetes 1." + minor + " ", "examples/README.md": "Kubernetes v1." + minor + " ",
	} {
		if text, err := fs.ReadFile(repository, file); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %q: %v", file, strings.TrimSpace(want), err)
		}
	}
}

// TestMissing: a name, a file, a module or a type of a method that is not there is found.
func TestMissing(t *testing.T) {
	got, err := missing([]marker{
		{"a.go:1", "pkg/gc/gc.go", []string{"same", "gone"}},
		{"a.go:2", "pkg/gc/none.go", []string{"same"}},
		{"a.go:3", "pkg/registry/*/strategy.go", []string{"Allow"}},
		{"a.go:4", "pkg/registry/*/strategy.go", []string{"Refuse"}},
		{"a.go:5", "pkg/gc/gc.go", []string{"C.moves", "X.moves"}},
		{"a.go:6", "client-go/gc.go", []string{"same"}},
	}, before)
	want := []string{
		"a.go:1: pkg/gc/gc.go declares no gone",
		"a.go:2: pkg/gc/none.go declares no same",
		"a.go:4: pkg/registry/*/strategy.go declares no Refuse",
		"a.go:5: pkg/gc/gc.go declares no X.moves",
		"a.go:6: client-go/gc.go declares no same",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("missing\n%s\nwant\n%s\n%v", strings.Join(got, "\n"), strings.Join(want, "\n"), err)
	}
}

// TestLocate: the folders of k8s.io/kubernetes are its own, every other one is a module.
func TestLocate(t *testing.T) {
	for file, want := range map[string][2]string{
		"pkg/gc/gc.go":          {"k8s.io/kubernetes", "pkg/gc/gc.go"},
		"plugin/pkg/a.go":       {"k8s.io/kubernetes", "plugin/pkg/a.go"},
		"apiserver/pkg/x.go":    {"k8s.io/apiserver", "pkg/x.go"},
		"client-go/rest/*/x.go": {"k8s.io/client-go", "rest/*/x.go"},
	} {
		if module, inside := locate(file); module != want[0] || inside != want[1] || full(module, inside) != file {
			t.Errorf("%s is %s of %s", file, inside, module)
		}
	}
}

func TestPinnedVersion(t *testing.T) {
	const file = "test/controlplane/go.mod"
	version, err := pinned(fstest.MapFS{file: {Data: []byte("require (\n\tk8s.io/kubectl v0.1.2\n\tk8s.io/kubernetes v1.1.2\n)\n")}})
	if err != nil || version != "v1.1.2" {
		t.Errorf("%q, %v", version, err)
	}
	if version, err := pinned(fstest.MapFS{file: {}}); err == nil {
		t.Errorf("%q of a file that requires nothing", version)
	}
}
