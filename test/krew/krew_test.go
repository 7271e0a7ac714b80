// Package krew checks krew.yaml with the rules by which krew accepts a plugin.
package krew

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// manifest is what krew reads of a plugin manifest.
type manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string     `json:"version"`
		Homepage         string     `json:"homepage"`
		ShortDescription string     `json:"shortDescription"`
		Description      string     `json:"description"`
		Platforms        []platform `json:"platforms"`
	} `json:"spec"`
}

type platform struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	URI    string `json:"uri"`
	SHA256 string `json:"sha256"`
	Bin    string `json:"bin"`
}

// offered are the platforms that a release is built for.
var offered = []string{
	"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64",
}

var (
	version = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
	hash    = regexp.MustCompile(`^[a-f0-9]{64}$`)
)

// problems lists what krew, or its reviewers, would refuse. An empty hash is
// accepted for all platforms or for none: only a release knows hashes.
func problems(text []byte) []string {
	var m manifest
	if err := yaml.UnmarshalStrict(text, &m); err != nil {
		return []string{err.Error()}
	}
	var bad []string
	refuse := func(cond bool, format string, args ...any) {
		if cond {
			bad = append(bad, fmt.Sprintf(format, args...))
		}
	}
	refuse(m.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || m.Kind != "Plugin", "apiVersion %q kind %q", m.APIVersion, m.Kind)
	refuse(m.Metadata.Name != "gc", "name %q", m.Metadata.Name)
	refuse(!version.MatchString(m.Spec.Version), "version %q", m.Spec.Version)
	refuse(m.Spec.Homepage == "" || m.Spec.Description == "", "homepage or description is missing")
	short := m.Spec.ShortDescription
	refuse(short == "" || len(short) > 50 || strings.Contains(short, "\n"), "short description %q", short)

	seen := map[string]bool{}
	hashes := 0
	for _, p := range m.Spec.Platforms {
		os, arch := p.Selector.MatchLabels["os"], p.Selector.MatchLabels["arch"]
		name := os + "/" + arch
		refuse(seen[name] || len(p.Selector.MatchLabels) != 2, "%s: selector", name)
		seen[name] = true
		ext, bin := ".tar.gz", "kubectl-gc"
		if os == "windows" {
			ext, bin = ".zip", "kubectl-gc.exe"
		}
		file := fmt.Sprintf("/%s/kubectl-gc_%s_%s_%s%s", m.Spec.Version, m.Spec.Version, os, arch, ext)
		refuse(!strings.HasSuffix(p.URI, file), "%s: uri %q does not end in %s", name, p.URI, file)
		refuse(p.Bin != bin, "%s: bin %q", name, p.Bin)
		refuse(p.SHA256 != "" && !hash.MatchString(p.SHA256), "%s: sha256 %q", name, p.SHA256)
		if p.SHA256 != "" {
			hashes++
		}
	}
	for _, name := range offered {
		refuse(!seen[name], "%s is missing", name)
	}
	refuse(hashes != 0 && hashes != len(m.Spec.Platforms), "%d of %d hashes are filled", hashes, len(m.Spec.Platforms))
	return bad
}

func committed(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../krew.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestManifest(t *testing.T) {
	for _, p := range problems([]byte(committed(t))) {
		t.Error(p)
	}
}

func TestManifestProblems(t *testing.T) {
	for _, c := range []struct{ name, old, with string }{
		{"another kind", "kind: Plugin", "kind: Plug"},
		{"another name", "name: gc", "name: gcc"},
		{"version without v", "version: v0.1.0", "version: 0.1.0"},
		{"long description", "shortDescription: Predict", "shortDescription: Predict and then predict once more"},
		{"the same platform twice", "os: darwin", "os: linux"},
		{"an archive of another platform", "_linux_arm64.tar.gz", "_linux_arm.tar.gz"},
		{"a binary without .exe", "bin: kubectl-gc.exe", "bin: kubectl-gc"},
		{"one hash", `sha256: ""`, "sha256: " + strings.Repeat("a", 64)},
		{"an upper-case hash", `sha256: ""`, "sha256: " + strings.Repeat("A", 64)},
		{"an unknown field", "  homepage:", "  extra: 1\n  homepage:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(committed(t), c.old, c.with, 1)
			if text == committed(t) {
				t.Fatalf("%q is not in the manifest", c.old)
			}
			if len(problems([]byte(text))) == 0 {
				t.Error("accepted")
			}
		})
	}
}
