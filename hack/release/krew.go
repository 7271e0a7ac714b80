package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"text/template"
)

// krewTemplate is the template that krew-release-bot fills, too. krewManifest is
// what comes of it.
const (
	krewTemplate = ".krew.yaml"
	krewManifest = "krew.yaml"
)

// krew writes the manifest of a version from the archives in a directory. Their
// names say which platforms they are for, their bytes are hashed.
func krew(version, dist string) error {
	manifest, err := manifestOf(version, dist)
	if err != nil {
		return err
	}
	return os.WriteFile(krewManifest, manifest, 0o644)
}

// checkKrew fails if the manifest is not of that version and these archives.
func checkKrew(version, dist string) error {
	manifest, err := manifestOf(version, dist)
	if err != nil {
		return err
	}
	have, err := os.ReadFile(krewManifest)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, manifest) {
		return fmt.Errorf("%s is not the manifest of version %s and its archives: run make krew and commit it", krewManifest, version)
	}
	return nil
}

func manifestOf(version, dist string) ([]byte, error) {
	text, err := os.ReadFile(krewTemplate)
	if err != nil {
		return nil, err
	}
	return render(string(text), version, func(url string) (string, error) {
		return hashOf(filepath.Join(dist, path.Base(url)))
	})
}

// render fills the template as krew-release-bot does: it has one function, which
// takes an address that is a template too and returns two lines, the second
// indented by four spaces.
func render(text, version string, sum func(url string) (string, error)) ([]byte, error) {
	place := func(address, tagName string) (string, error) {
		url, err := fill("address", address, nil, tagName)
		if err != nil {
			return "", err
		}
		hash, err := sum(string(url))
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("uri: %s\n    sha256: %s", url, hash), nil
	}
	return fill(krewTemplate, text, template.FuncMap{"addURIAndSha": place}, version)
}

func fill(name, text string, functions template.FuncMap, version string) ([]byte, error) {
	t, err := template.New(name).Option("missingkey=error").Funcs(functions).Parse(text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, struct{ TagName string }{version}); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
