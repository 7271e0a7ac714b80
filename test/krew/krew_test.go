package krew

import (
	"os"
	"strings"
	"testing"
)

// krew wants the file to be named after the plugin. krew.yaml holds plugin gc
// and is copied to gc.yaml before it goes into an index.
const published = "gc.yaml"

func committed(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../krew.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// released is the manifest as a release fills it. Before one, all hashes are empty,
// which krew refuses, and one stands in here for each.
func released(t *testing.T) string {
	t.Helper()
	text := committed(t)
	if strings.Count(text, `sha256: ""`) != strings.Count(text, "sha256:") {
		return text
	}
	return strings.ReplaceAll(text, `sha256: ""`, "sha256: "+strings.Repeat("a", 64))
}

func TestManifest(t *testing.T) {
	for _, p := range problems(published, []byte(released(t))) {
		t.Error(p)
	}
}

func TestManifestProblems(t *testing.T) {
	manifest := released(t)
	line := func(key string) string {
		t.Helper()
		_, rest, ok := strings.Cut(manifest, key+": ")
		if !ok {
			t.Fatalf("no %s in the manifest", key)
		}
		value, _, _ := strings.Cut(rest, "\n")
		return key + ": " + value
	}
	sum := line("sha256")
	for _, c := range []struct{ name, old, with, want string }{
		{"another kind", "kind: Plugin", "kind: Plug", `kind "Plug"`},
		{"another API", "v1alpha2", "v1alpha3", "v1alpha3"},
		{"another name than the file's", "name: gc", "name: gcc", `"gcc" in a file`},
		{"a name with a dot", "name: gc", "name: g.c", `name "g.c"`},
		{"a device of Windows", "name: gc", "name: NUL", `name "NUL"`},
		{"version without v", line("version"), "version: 0.1.0", `version "0.1.0"`},
		{"version that is none", line("version"), "version: v1", `version "v1"`},
		{"long description", "shortDescription: Predict", "shortDescription: Predict and then predict once more", "short description"},
		{"no homepage", line("homepage"), `homepage: ""`, "homepage"},
		{"a wide line", "  caveats: |\n", "  caveats: |\n    " + strings.Repeat("x", 81) + "\n", "longer than 80"},
		{"the same platform twice", "os: darwin", "os: linux", "more than once"},
		{"a platform is missing", "arch: ppc64le", "arch: arm", "linux/ppc64le is matched 0 times"},
		{"a platform that krew does not know", "arch: ppc64le", "arch: s390x", "the selector matches []"},
		{"a selector of a whole system", "        os: windows\n        arch: amd64\n", "        os: windows\n", "want one platform"},
		{"a selector by something else", "        os: windows\n", "        os: windows\n        libc: musl\n", "the selector matches []"},
		{"an empty selector", "      matchLabels:\n        os: linux\n        arch: amd64\n", "      matchLabels: {}\n", "the selector matches []"},
		{"an archive of another platform", "_linux_arm64.tar.gz", "_linux_arm.tar.gz", "want"},
		{"an archive of another kind", "_windows_arm64.zip", "_windows_arm64.7z", "want"},
		{"a binary without .exe", "bin: kubectl-gc.exe", "bin: kubectl-gc", "bin"},
		{"no hash", sum, `sha256: ""`, `sha256 ""`},
		{"an upper-case hash", sum, "sha256: " + strings.Repeat("A", 64), "sha256"},
		{"a short hash", sum, "sha256: " + strings.Repeat("a", 63), "sha256"},
		{"files that are none", sum, "files: []\n    " + sum, "files is there"},
		{"an unknown field", "  homepage:", "  extra: 1\n  homepage:", "extra"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(manifest, c.old, c.with, 1)
			if text == manifest {
				t.Fatalf("%q is not in the manifest", c.old)
			}
			found := strings.Join(problems(published, []byte(text)), "\n")
			if !strings.Contains(found, c.want) {
				t.Errorf("found %q, want %q in it", found, c.want)
			}
		})
	}
}
