package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBill(t *testing.T) {
	build := &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "sigs.k8s.io/yaml", Version: "v1.6.0", Sum: "h1:abc="},
		{Path: "example.com/a_b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v1.0.1"}},
	}}
	b := billOf("kubectl-gc_v1.0.0_linux_amd64.tar.gz", "v1.0.0", "00ff", made, build)
	var names, ids []string
	for _, p := range b.Packages {
		names = append(names, p.Name+" "+p.VersionInfo)
		ids = append(ids, p.SPDXID)
		if !regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`).MatchString(p.SPDXID) {
			t.Errorf("%s has the identifier %q", p.Name, p.SPDXID)
		}
	}
	want := []string{
		"kubectl-gc_v1.0.0_linux_amd64.tar.gz v1.0.0", "stdlib 1.26.8", "sigs.k8s.io/yaml v1.6.0", "example.com/fork v1.0.1",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("packages (-want +got):\n%s", diff)
	}
	if got := b.Packages[2].ExternalRefs[0].Locator; got != "pkg:golang/sigs.k8s.io/yaml@v1.6.0" {
		t.Errorf("locator %q", got)
	}
	if got := b.CreationInfo.Created; got != "2026-01-02T03:04:05Z" {
		t.Errorf("created %q", got)
	}
	for i, r := range b.Relationships[1:] {
		if r.Related != ids[i+1] || r.Type != "CONTAINS" {
			t.Errorf("relationship %d is %+v", i, r)
		}
	}
}

// TestSBOM reads the program of this test, which records its modules as well.
func TestSBOM(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	archive := filepath.Join(dir, "kubectl-gc_v1.0.0_linux_amd64.tar.gz")
	write(t, archive, []entry{{"kubectl-gc", 0o755, made, "root:root", text}})
	document := filepath.Join(dir, "out.spdx.json")
	if err := sbom(archive, document); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var b bill
	if err := json.Unmarshal(written, &b); err != nil {
		t.Fatal(err)
	}
	if b.CreationInfo.Created != "2026-01-02T03:04:05Z" {
		t.Errorf("created %q", b.CreationInfo.Created)
	}
	if !strings.Contains(string(written), `"pkg:golang/k8s.io/client-go@v`) {
		t.Errorf("client-go is not among %d packages", len(b.Packages))
	}
}

func TestSBOMFails(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "kubectl-gc_v1.0.0_linux_amd64.tar.gz")
	for _, c := range []struct {
		name, want string
		all        []entry
	}{
		{"no program", "no program", whole()[1:]},
		{"a program that is none", "kubectl-gc: ", whole()},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, archive, c.all)
			if err := sbom(archive, filepath.Join(dir, "x")); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}
