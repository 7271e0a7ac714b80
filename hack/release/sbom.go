package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

// bill is an SPDX 2.3 document, as far as it is filled here.
type bill struct {
	SPDXVersion       string         `json:"spdxVersion"`
	DataLicense       string         `json:"dataLicense"`
	SPDXID            string         `json:"SPDXID"`
	Name              string         `json:"name"`
	DocumentNamespace string         `json:"documentNamespace"`
	CreationInfo      creation       `json:"creationInfo"`
	Packages          []component    `json:"packages"`
	Relationships     []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type component struct {
	SPDXID           string     `json:"SPDXID"`
	Name             string     `json:"name"`
	VersionInfo      string     `json:"versionInfo"`
	DownloadLocation string     `json:"downloadLocation"`
	FilesAnalyzed    bool       `json:"filesAnalyzed"`
	LicenseConcluded string     `json:"licenseConcluded"`
	LicenseDeclared  string     `json:"licenseDeclared"`
	CopyrightText    string     `json:"copyrightText"`
	Comment          string     `json:"comment,omitempty"`
	Checksums        []checksum `json:"checksums,omitempty"`
	ExternalRefs     []external `json:"externalRefs,omitempty"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type external struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

// sbom writes what the program in an archive is made of, as the program itself
// records it: the modules that were linked into it, and the version of Go. It is
// as old as the program, so that it can be made again.
func sbom(archive, document string) error {
	all, err := entries(archive)
	if err != nil {
		return err
	}
	parts := named.FindStringSubmatch(filepath.Base(archive))
	if parts == nil {
		return fmt.Errorf("%s: not the name of an archive", archive)
	}
	for _, e := range all {
		if e.name != "kubectl-gc" && e.name != "kubectl-gc.exe" {
			continue
		}
		build, err := buildinfo.Read(bytes.NewReader(e.text))
		if err != nil {
			return fmt.Errorf("%s: %s: %w", archive, e.name, err)
		}
		hash, err := hashOf(archive)
		if err != nil {
			return err
		}
		text, err := json.MarshalIndent(billOf(filepath.Base(archive), parts[1], hash, e.mtime, build), "", "  ")
		if err != nil {
			return err
		}
		return os.WriteFile(document, append(text, '\n'), 0o644)
	}
	return fmt.Errorf("%s: no program in it", archive)
}

// billOf lists the archive first, then the modules in the order of the build.
func billOf(archive, version, hash string, created time.Time, build *debug.BuildInfo) bill {
	root := component{
		SPDXID: "SPDXRef-archive", Name: archive, VersionInfo: version,
		DownloadLocation: "https://github.com/kubectl-gc/kubectl-gc/releases/download/" + version + "/" + archive,
		LicenseConcluded: "NOASSERTION", LicenseDeclared: "Apache-2.0", CopyrightText: "NOASSERTION",
		Checksums: []checksum{{"SHA256", hash}},
	}
	b := bill{
		SPDXVersion: "SPDX-2.3", DataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", Name: archive,
		DocumentNamespace: "https://github.com/kubectl-gc/kubectl-gc/sbom/" + archive + "-" + hash,
		CreationInfo:      creation{created.UTC().Format(time.RFC3339), []string{"Tool: kubectl-gc/hack/release"}},
		Packages:          []component{root},
		Relationships:     []relationship{{"SPDXRef-DOCUMENT", "DESCRIBES", root.SPDXID}},
	}
	modules := []component{module("stdlib", strings.TrimPrefix(build.GoVersion, "go"), "")}
	for _, m := range build.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules = append(modules, module(m.Path, m.Version, m.Sum))
	}
	for _, m := range modules {
		b.Packages = append(b.Packages, m)
		b.Relationships = append(b.Relationships, relationship{root.SPDXID, "CONTAINS", m.SPDXID})
	}
	return b
}

// unfit is what an identifier of SPDX cannot hold.
var unfit = regexp.MustCompile(`[^A-Za-z0-9.-]`)

func module(path, version, sum string) component {
	unique := sha256.Sum256([]byte(path))
	c := component{
		SPDXID: fmt.Sprintf("SPDXRef-%s-%x", unfit.ReplaceAllString(path, "-"), unique[:4]),
		Name:   path, VersionInfo: version, DownloadLocation: "NOASSERTION",
		LicenseConcluded: "NOASSERTION", LicenseDeclared: "NOASSERTION", CopyrightText: "NOASSERTION",
		ExternalRefs: []external{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}},
	}
	if sum != "" {
		c.Comment = "go.sum has " + sum
	}
	return c
}
