package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// entry is one file of an archive.
type entry struct {
	name  string
	mode  fs.FileMode
	mtime time.Time
	owner string
	text  []byte
}

// entries reads an archive as krew does: by the end of its name.
func entries(name string) ([]entry, error) {
	if strings.HasSuffix(name, ".zip") {
		return zipped(name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	plain, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var all []entry
	for r := tar.NewReader(plain); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, entry{h.Name, h.FileInfo().Mode(), h.ModTime, h.Uname + ":" + h.Gname, text})
	}
}

func zipped(name string) ([]entry, error) {
	r, err := zip.OpenReader(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer func() { _ = r.Close() }()
	var all []entry
	for _, f := range r.File {
		content, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, f.Name, err)
		}
		text, err := io.ReadAll(content)
		_ = content.Close() // of what was read
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, f.Name, err)
		}
		all = append(all, entry{f.Name, f.Mode(), f.Modified, "root:root", text})
	}
	return all, nil
}

// unpack writes the entries below dir. Names that lead out of it are refused.
func unpack(all []entry, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, e := range all {
		if sub := filepath.Dir(e.name); sub != "." {
			if err := root.MkdirAll(sub, 0o755); err != nil {
				return err
			}
		}
		if err := root.WriteFile(e.name, e.text, e.mode.Perm()); err != nil {
			return err
		}
	}
	return nil
}

// named is the name of an archive: version, system, processor, kind.
var named = regexp.MustCompile(`^kubectl-gc_(v[0-9][0-9A-Za-z.+-]*)_([a-z0-9]+)_([a-z0-9]+)\.(tar\.gz|zip)$`)

// licence is what krew looks for in an archive, in lower case.
var licence = regexp.MustCompile(`^(licen[cs]e(\.txt|\.md)?|licen[cs]es|copying(\.txt)?)$`)

// required are the files of every archive, in addition to the binary.
var required = []string{
	"LICENSE", "README.md", "THIRD_PARTY_NOTICES", "kubectl_complete-gc",
	"completions/kubectl-gc.bash", "completions/_kubectl-gc", "completions/kubectl-gc.fish", "completions/kubectl-gc.ps1",
	"man/kubectl-gc.1", "man/kubectl-gc-explain.1",
}

// problems lists what is wrong with the content of the archive of that name.
func problems(archive string, all []entry) []string {
	parts := named.FindStringSubmatch(path.Base(archive))
	if parts == nil {
		return []string{archive + ": not the name of an archive"}
	}
	binary, kind := "kubectl-gc", "tar.gz"
	if parts[2] == "windows" {
		binary, kind = "kubectl-gc.exe", "zip"
	}
	var bad []string
	refuse := func(cond bool, format string, args ...any) {
		if cond {
			bad = append(bad, path.Base(archive)+": "+fmt.Sprintf(format, args...))
		}
	}
	refuse(parts[4] != kind, "a %s for %s", parts[4], parts[2])
	seen := map[string]bool{}
	for _, e := range all {
		refuse(seen[e.name], "%s is in it twice", e.name)
		seen[e.name] = true
		refuse(path.IsAbs(e.name) || path.Clean(e.name) != e.name || strings.HasPrefix(e.name, ".."), "%s is no plain path", e.name)
		refuse(!e.mode.IsRegular(), "%s is no file", e.name)
		refuse(!e.mtime.Equal(all[0].mtime), "%s is of %s, others of %s", e.name, e.mtime.UTC(), all[0].mtime.UTC())
		refuse(e.owner != "root:root", "%s belongs to %s", e.name, e.owner)
		refuse(strings.HasSuffix(e.name, "krew.yaml"), "%s holds the hash of this archive", e.name)
		executable := e.name == binary || e.name == "kubectl_complete-gc"
		refuse(executable != (e.mode.Perm()&0o111 != 0), "%s has mode %o", e.name, e.mode.Perm())
		refuse(len(e.text) == 0, "%s is empty", e.name)
	}
	refuse(!slices.ContainsFunc(all, func(e entry) bool { return licence.MatchString(strings.ToLower(path.Base(e.name))) }), "no licence")
	for _, name := range append([]string{binary}, required...) {
		refuse(!seen[name], "%s is missing", name)
	}
	return bad
}
