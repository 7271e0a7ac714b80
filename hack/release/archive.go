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
	"path/filepath"
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
