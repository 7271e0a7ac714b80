// Package krew checks krew.yaml with the rules by which krew accepts a plugin:
// those of its validation, and those that its reviewers add.
package krew

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/version"
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
		Caveats          string     `json:"caveats"`
		Platforms        []platform `json:"platforms"`
	} `json:"spec"`
}

type platform struct {
	Selector *metav1.LabelSelector `json:"selector"`
	URI      string                `json:"uri"`
	SHA256   string                `json:"sha256"`
	Bin      string                `json:"bin"`
	Files    []struct {
		From string `json:"from"`
		To   string `json:"to"`
	} `json:"files"`
}

// supported are the platforms that krew installs on, offered those of them that
// a release is built for.
var (
	supported = []string{
		"darwin/386", "darwin/amd64", "darwin/arm64",
		"linux/386", "linux/amd64", "linux/arm", "linux/arm64", "linux/ppc64le",
		"windows/386", "windows/amd64", "windows/arm64",
	}
	offered = []string{
		"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "linux/ppc64le", "windows/amd64", "windows/arm64",
	}
)

var (
	safeName = regexp.MustCompile(`^[\w-]+$`)
	device   = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com\d|lpt\d)$`)
	hash     = regexp.MustCompile(`^[a-f0-9]{64}$`)
)

// problems lists what krew, or its reviewers, would refuse of the manifest in
// the file of that name.
func problems(file string, text []byte) []string {
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
	name := m.Metadata.Name
	refuse(!safeName.MatchString(name) || device.MatchString(name), "name %q", name)
	refuse(name+".yaml" != path.Base(file), "plugin %q in a file named %s", name, file)
	_, err := version.ParseSemantic(m.Spec.Version)
	refuse(err != nil || !strings.HasPrefix(m.Spec.Version, "v"), "version %q", m.Spec.Version)
	short := m.Spec.ShortDescription
	refuse(short == "" || len(short) > 50 || strings.Contains(short, "\n"), "short description %q", short)
	refuse(m.Spec.Homepage == "" || m.Spec.Description == "" || m.Spec.Caveats == "", "homepage, description or caveats are missing")
	for line := range strings.Lines(m.Spec.Description + m.Spec.Caveats) {
		refuse(len(strings.TrimSuffix(line, "\n")) > 80, "a line longer than 80: %q", line)
	}
	refuse(len(m.Spec.Platforms) == 0, "no platform")
	for _, p := range m.Spec.Platforms {
		bad = append(bad, ofPlatform(m.Spec.Version, p)...)
	}
	return append(bad, ofCoverage(m.Spec.Platforms)...)
}

// ofPlatform lists what would be refused of one platform.
func ofPlatform(version string, p platform) []string {
	var bad []string
	refuse := func(cond bool, format string, args ...any) {
		if cond {
			bad = append(bad, fmt.Sprintf(format, args...))
		}
	}
	matched := matches(p)
	refuse(len(matched) != 1, "%s: the selector matches %q, want one platform", p.URI, matched)
	refuse(!hash.MatchString(p.SHA256), "%s: sha256 %q", p.URI, p.SHA256)
	refuse(p.Files != nil && len(p.Files) == 0, "%s: files is there and empty", p.URI)
	for _, system := range matched {
		os, arch, _ := strings.Cut(system, "/")
		ext, bin := ".tar.gz", "kubectl-gc"
		if os == "windows" {
			ext, bin = ".zip", "kubectl-gc.exe"
		}
		uri := fmt.Sprintf("https://github.com/kubectl-gc/kubectl-gc/releases/download/%s/kubectl-gc_%s_%s_%s%s", version, version, os, arch, ext)
		refuse(p.URI != uri, "%s: uri %q, want %q", system, p.URI, uri)
		refuse(p.Bin != bin, "%s: bin %q, want %q", system, p.Bin, bin)
	}
	return bad
}

// ofCoverage lists platforms that are matched twice, and those that are missing.
func ofCoverage(platforms []platform) []string {
	times := map[string]int{}
	for _, p := range platforms {
		for _, system := range matches(p) {
			times[system]++
		}
	}
	var bad []string
	for _, system := range supported {
		if times[system] > 1 {
			bad = append(bad, system+" is matched more than once")
		}
		if want := slices.Contains(offered, system); want != (times[system] > 0) {
			bad = append(bad, fmt.Sprintf("%s is matched %d times", system, times[system]))
		}
	}
	return bad
}

// matches are the platforms of krew that a selector selects: none if it is empty
// or asks for anything but os and arch.
func matches(p platform) []string {
	if p.Selector == nil || len(p.Selector.MatchLabels)+len(p.Selector.MatchExpressions) == 0 {
		return nil
	}
	for key := range p.Selector.MatchLabels {
		if key != "os" && key != "arch" {
			return nil
		}
	}
	for _, e := range p.Selector.MatchExpressions {
		if e.Key != "os" && e.Key != "arch" {
			return nil
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(p.Selector)
	if err != nil {
		return nil
	}
	var matched []string
	for _, system := range supported {
		os, arch, _ := strings.Cut(system, "/")
		if selector.Matches(labels.Set{"os": os, "arch": arch}) {
			matched = append(matched, system)
		}
	}
	return matched
}
