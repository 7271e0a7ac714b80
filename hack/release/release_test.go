package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestArchive makes the archive of this machine and does with it what `make
// release-verify` does with those of a release.
func TestArchive(t *testing.T) {
	t.Chdir("../..")
	name := built(t)
	hash, err := hashOf(name)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(name)
	sums := filepath.Join(dir, "checksums.txt")
	if err := os.WriteFile(sums, []byte(hash+"  "+filepath.Base(name)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(t.Context(), []string{"verify", dir}, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "1 archives are whole") {
		t.Errorf("printed %q", out.String())
	}
	if err := os.WriteFile(sums, []byte(strings.Repeat("0", 64)+"  "+filepath.Base(name)+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := verify(t.Context(), dir, &out); err == nil || !strings.Contains(err.Error(), hash) {
		t.Errorf("a wrong checksum: %v", err)
	}
}

// TestTargets wants the platforms of the release to be those of the manifest.
func TestTargets(t *testing.T) {
	t.Chdir("../..")
	template, err := os.ReadFile(".krew.yaml")
	if err != nil {
		t.Fatal(err)
	}
	targets := configured(t).Builds[0].Targets
	for _, target := range targets {
		if !strings.Contains(string(template), "_"+target+".") {
			t.Errorf("%s is released and not in .krew.yaml", target)
		}
	}
	if named := strings.Count(string(template), "addURIAndSha"); named != len(targets) {
		t.Errorf(".krew.yaml has %d platforms, the release %d", named, len(targets))
	}
}

// whole is an archive with nothing wrong.
func whole() []entry {
	all := []entry{{"kubectl-gc", 0o755, made, "root:root", []byte("x")}}
	for _, name := range required {
		mode := os.FileMode(0o644)
		if name == "kubectl_complete-gc" {
			mode = 0o755
		}
		all = append(all, entry{name, mode, made, "root:root", []byte("x")})
	}
	return all
}

func TestProblems(t *testing.T) {
	const good = "kubectl-gc_v1.0.0_linux_amd64.tar.gz"
	if bad := problems(good, whole()); bad != nil {
		t.Fatalf("a whole archive: %q", bad)
	}
	for _, c := range []struct {
		name, archive string
		spoil         func([]entry) []entry
		want          string
	}{
		{"another name", "kubectl-gc.tar.gz", nil, "not the name"},
		{"a zip for linux", "kubectl-gc_v1.0.0_linux_amd64.zip", nil, "a zip for linux"},
		{"no .exe", "kubectl-gc_v1.0.0_windows_amd64.zip", nil, "kubectl-gc.exe is missing"},
		{"no licence", good, func(all []entry) []entry {
			return slices.DeleteFunc(all, func(e entry) bool { return e.name == "LICENSE" })
		}, "no licence"},
		{"no man page", good, func(all []entry) []entry {
			return slices.DeleteFunc(all, func(e entry) bool { return strings.HasPrefix(e.name, "man/") })
		}, "man/kubectl-gc.1 is missing"},
		{"its own hash", good, add(entry{"krew.yaml", 0o644, made, "root:root", []byte("x")}), "holds the hash"},
		{"a way out", good, add(entry{"../x", 0o644, made, "root:root", []byte("x")}), "no plain path"},
		{"an absolute path", good, add(entry{"/x", 0o644, made, "root:root", []byte("x")}), "no plain path"},
		{"a link", good, add(entry{"x", os.ModeSymlink | 0o644, made, "root:root", []byte("x")}), "no file"},
		{"twice", good, add(entry{"LICENSE", 0o644, made, "root:root", []byte("x")}), "twice"},
		{"the builder's name", good, add(entry{"x", 0o644, made, "me:me", []byte("x")}), "belongs to me:me"},
		{"another time", good, add(entry{"x", 0o644, made.AddDate(0, 0, 1), "root:root", []byte("x")}), "2026-01-03"},
		{"a program that does not run", good, func(all []entry) []entry { all[0].mode = 0o644; return all }, "mode 644"},
		{"text that runs", good, add(entry{"x", 0o755, made, "root:root", []byte("x")}), "mode 755"},
		{"nothing", good, add(entry{"x", 0o644, made, "root:root", nil}), "empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := whole()
			if c.spoil != nil {
				all = c.spoil(all)
			}
			if found := strings.Join(problems(c.archive, all), "\n"); !strings.Contains(found, c.want) {
				t.Errorf("found %q, want %q in it", found, c.want)
			}
		})
	}
}

func add(e entry) func([]entry) []entry {
	return func(all []entry) []entry { return append(all, e) }
}

func TestUnpackStaysInside(t *testing.T) {
	dir := t.TempDir()
	if err := unpack([]entry{{"../out", 0o644, made, "", []byte("x")}}, dir); err == nil {
		t.Error("a file was written outside of the directory")
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "out")); err == nil {
		t.Error("../out is there")
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"stage"}, {"other", "x"}} {
		if err := run(t.Context(), args, nil); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
	empty := t.TempDir()
	for _, verb := range []string{"verify", "sum"} {
		if err := run(t.Context(), []string{verb, empty}, nil); err == nil || !strings.Contains(err.Error(), "no archive") {
			t.Errorf("%s of an empty directory: %v", verb, err)
		}
	}
}
