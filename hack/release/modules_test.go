package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestModuleVersions checks that the program requires the root module in the version that krew.yaml
// installs, and that go.work replaces that version.
func TestModuleVersions(t *testing.T) {
	var found []string
	for file, version := range map[string]string{
		"krew.yaml":             `(?m)^  version: (v\S+)$`,
		"cmd/kubectl-gc/go.mod": `(?m)^require github.com/kubectl-gc/kubectl-gc (v\S+)$`,
		"go.work":               `(?m)^replace github.com/kubectl-gc/kubectl-gc (v\S+) => \.$`,
	} {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		match := regexp.MustCompile(version).FindSubmatch(text)
		if match == nil {
			t.Fatalf("%s: no version", file)
		}
		found = append(found, string(match[1]))
	}
	if found[0] != found[1] || found[1] != found[2] {
		t.Errorf("different versions: %v", found)
	}
}

// TestRootStaysOld checks that weekly updates leave out the root module. Operators share its
// versions with gctest, also those of modules that gctest does not import.
func TestRootStaysOld(t *testing.T) {
	text, err := os.ReadFile("../../.github/dependabot.yml")
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`package-ecosystem: gomod\n(?:\s*#.*\n)*\s*directories: (.*)`).FindSubmatch(text)
	if match == nil {
		t.Fatal("no directories of Go modules")
	}
	if strings.Contains(string(match[1]), `"/"`) || !strings.Contains(string(match[1]), `"/cmd/kubectl-gc"`) {
		t.Errorf("updated are %s", match[1])
	}
}
