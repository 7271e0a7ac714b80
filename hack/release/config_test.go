package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"text/template"
	"time"

	"sigs.k8s.io/yaml"
)

const tag = "v0.0.1-test.1"

// made is when the archives of the tests were made.
var made = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// config is what the tests need of .goreleaser.yaml to do what it says.
type config struct {
	Builds []struct {
		Main    string   `json:"main"`
		Binary  string   `json:"binary"`
		Env     []string `json:"env"`
		Flags   []string `json:"flags"`
		Ldflags []string `json:"ldflags"`
		Targets []string `json:"targets"`
	} `json:"builds"`
	Archives []struct {
		NameTemplate string `json:"name_template"`
		BuildsInfo   info   `json:"builds_info"`
		Files        []file `json:"files"`
	} `json:"archives"`
}

type file struct {
	Src         string `json:"src"`
	Dst         string `json:"dst"`
	StripParent bool   `json:"strip_parent"`
	Info        info   `json:"info"`
}

type info struct {
	Owner string `json:"owner"`
	Group string `json:"group"`
	Mode  int64  `json:"mode"`
	MTime string `json:"mtime"`
}

func configured(t *testing.T) config {
	t.Helper()
	text, err := os.ReadFile(".goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c config
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Builds) != 1 || len(c.Archives) != 1 {
		t.Fatalf("%d builds and %d archives, want one of each", len(c.Builds), len(c.Archives))
	}
	return c
}

// filled is a template of .goreleaser.yaml with the values of the tests.
func filled(t *testing.T, text string) string {
	t.Helper()
	parsed, err := template.New("").Option("missingkey=error").Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = parsed.Execute(&out, map[string]any{
		"Os": runtime.GOOS, "Arch": runtime.GOARCH,
		"Env": map[string]string{"VERSION": tag, "SOURCE_DATE_RFC3339": made.Format(time.RFC3339)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// built makes the archive of this machine as .goreleaser.yaml says, from a build
// of the program and what is staged, and returns its name.
func built(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Fatal("the archive for windows is a zip, which is not made here")
	}
	c := configured(t)
	staged := filepath.Join(t.TempDir(), "shipped")
	if err := stage(t.Context(), staged); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, c.Builds[0].Binary)
	args := []string{"build", "-o", binary, "-ldflags", filled(t, strings.Join(c.Builds[0].Ldflags, " "))}
	for _, flag := range c.Builds[0].Flags {
		if flag != "-trimpath" { // would compile every package once more, for other names of files
			args = append(args, flag)
		}
	}
	command := exec.CommandContext(t.Context(), "go", append(args, c.Builds[0].Main)...)
	command.Env = append(os.Environ(), c.Builds[0].Env...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	a := c.Archives[0]
	var all []entry
	for _, f := range a.Files {
		all = append(all, globbed(t, f, staged)...)
	}
	all = append(all, packed(t, binary, c.Builds[0].Binary, a.BuildsInfo))
	name := filepath.Join(dir, filled(t, a.NameTemplate)+".tar.gz")
	write(t, name, all)
	return name
}

// globbed are the entries for one line of the configuration's files; what is
// staged was staged somewhere else.
func globbed(t *testing.T, f file, staged string) []entry {
	t.Helper()
	found, err := filepath.Glob(strings.Replace(f.Src, "bin/shipped", staged, 1))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s: %d files, error %v", f.Src, len(found), err)
	}
	var all []entry
	for _, name := range found {
		in := filepath.Base(name)
		if !f.StripParent && filepath.Dir(f.Src) != "." {
			in = f.Src
		}
		all = append(all, packed(t, name, filepath.ToSlash(filepath.Join(f.Dst, in)), f.Info))
	}
	return all
}

func packed(t *testing.T, name, in string, i info) entry {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	mtime, err := time.Parse(time.RFC3339, filled(t, i.MTime))
	if err != nil {
		t.Fatal(err)
	}
	return entry{in, os.FileMode(i.Mode), mtime, i.Owner + ":" + i.Group, text}
}

func write(t *testing.T, name string, all []entry) {
	t.Helper()
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	w := tar.NewWriter(compressed)
	for _, e := range all {
		owner, group, _ := strings.Cut(e.owner, ":")
		h := &tar.Header{
			Name: e.name, Typeflag: tar.TypeReg, Mode: int64(e.mode.Perm()), Size: int64(len(e.text)),
			ModTime: e.mtime, Uname: owner, Gname: group,
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
