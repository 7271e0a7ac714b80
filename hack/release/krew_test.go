package main

import (
	"cmp"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// manifest is what is needed of krew.yaml to fill its template again.
type manifest struct {
	Spec struct {
		Version   string `json:"version"`
		Platforms []struct {
			URI    string `json:"uri"`
			SHA256 string `json:"sha256"`
		} `json:"platforms"`
	} `json:"spec"`
}

// TestTemplate fills the template with the version and the hashes of krew.yaml,
// and wants krew.yaml: what the bot opens a pull request with is what is here.
func TestTemplate(t *testing.T) {
	t.Chdir("../..")
	committed, template := text(t, krewManifest), text(t, krewTemplate)
	var m manifest
	if err := yaml.Unmarshal([]byte(committed), &m); err != nil {
		t.Fatal(err)
	}
	hashes := map[string]string{}
	for _, p := range m.Spec.Platforms {
		hashes[p.URI] = cmp.Or(p.SHA256, `""`)
	}
	asked := 0
	got, err := render(template, m.Spec.Version, func(url string) (string, error) {
		hash, ok := hashes[url]
		if !ok {
			return "", errors.New(url + " is in the template and not in krew.yaml")
		}
		asked++
		return hash, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != committed {
		t.Errorf("the template gives\n%s\nkrew.yaml is\n%s", got, committed)
	}
	if asked != len(m.Spec.Platforms) {
		t.Errorf("the template names %d archives, krew.yaml %d", asked, len(m.Spec.Platforms))
	}
}

// text is the content of a file.
func text(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// release makes a directory with the template and one file for each archive, and
// goes there.
func release(t *testing.T) {
	t.Helper()
	template := text(t, "../../"+krewTemplate)
	t.Chdir(t.TempDir())
	if err := os.WriteFile(krewTemplate, []byte(template), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("dist", 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := render(template, "v1.2.3", func(url string) (string, error) {
		return "", os.WriteFile(filepath.Join("dist", path.Base(url)), []byte(url), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestKrew(t *testing.T) {
	release(t)
	for _, verb := range []string{"krew", "krew-check"} {
		if err := run(t.Context(), []string{verb, "v1.2.3", "dist"}, io.Discard); err != nil {
			t.Fatalf("%s: %v", verb, err)
		}
	}
	// printf %s https://github.com/…/v1.2.3/kubectl-gc_v1.2.3_linux_amd64.tar.gz | sha256sum
	const want = "sha256: f2857fb7686a591c75a06f28b6f83ba81273ad4448e1e19d57f784763a929995"
	for _, s := range []string{
		"  version: v1.2.3\n",
		"    uri: https://github.com/kubectl-gc/kubectl-gc/releases/download/v1.2.3/kubectl-gc_v1.2.3_linux_amd64.tar.gz\n    " + want,
	} {
		if got := text(t, krewManifest); !strings.Contains(got, s) {
			t.Errorf("%q is not in\n%s", s, got)
		}
	}
	for _, c := range []struct {
		name  string
		spoil func() error
		want  string
	}{
		{"an archive with other bytes", func() error {
			return os.WriteFile("dist/kubectl-gc_v1.2.3_linux_arm64.tar.gz", []byte("other"), 0o644)
		}, "run make krew"},
		{"an archive that is missing", func() error {
			return os.Remove("dist/kubectl-gc_v1.2.3_darwin_arm64.tar.gz")
		}, "kubectl-gc_v1.2.3_darwin_arm64.tar.gz"},
	} {
		if err := c.spoil(); err != nil {
			t.Fatal(err)
		}
		if err := checkKrew("v1.2.3", "dist"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q in it", c.name, err, c.want)
		}
	}
}
