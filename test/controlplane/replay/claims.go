package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// repository is the way to the root of the repository from here.
const repository = "../../.."

// ledger is the file that says which behaviours were shown on a real control plane.
const ledger = "../real.txt"

// readLedger returns the lines of the ledger that begin with a number and then
// the word.
func readLedger(word string) ([]string, error) {
	text, err := os.ReadFile(ledger)
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 2 && words[1] == word {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	slices.Sort(lines)
	return lines, nil
}

// claims are the lines of the ledger for a scenario file.
func claims(word, file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	path, err := filepath.Rel(repository, file)
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		list, ok := strings.CutPrefix(strings.TrimSpace(line), "# Covers:")
		if !ok {
			continue
		}
		for id := range strings.SplitSeq(strings.TrimSuffix(list, "."), ",") {
			lines = append(lines, strings.TrimSpace(id)+" "+word+" "+filepath.ToSlash(path))
		}
	}
	return lines, nil
}

// disagreement says what the ledger claims too much or too little.
func disagreement(word string, shown []string) (string, error) {
	have, err := readLedger(word)
	if err != nil {
		return "", err
	}
	shown = slices.Compact(slices.Sorted(slices.Values(shown)))
	var b strings.Builder
	for _, line := range have {
		if !slices.Contains(shown, line) {
			fmt.Fprintln(&b, "- "+line)
		}
	}
	for _, line := range shown {
		if !slices.Contains(have, line) {
			fmt.Fprintln(&b, "+ "+line)
		}
	}
	return b.String(), nil
}

// collected are the kinds of the worlds that package differential puts to a real
// collector.
var collected = map[string]bool{
	"v1 ConfigMap": true, "v1 Secret": true, "v1 Pod": true, "v1 ReplicationController": true,
	"v1 ServiceAccount": true, "v1 Endpoints": true, "v1 PersistentVolume": true, "v1 Node": true,
	"apps/v1 ReplicaSet": true, "apps/v1 Deployment": true, "batch/v1 Job": true, "batch/v1 CronJob": true,
	"rbac.authorization.k8s.io/v1 Role": true, "rbac.authorization.k8s.io/v1 ClusterRole": true,
	"example.com/v1 Widget": true, "example.com/v1 Gadget": true,
}

// beyond are the directives that a real collector cannot be given: before them a
// file ends for package differential.
var beyond = []string{
	"create", "patch", "update", "remove", "fault", "deny", "collection", "finalize", "collector", "unwatch", "advance",
}

// whole tells whether package differential runs a file to its end: every world, and
// everything that happens in it.
func whole(file string) (bool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	worlds := 0
	var names scenario.Names
	for block := range strings.SplitSeq(string(text), "\n\n") {
		lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(block), "\n"),
			func(l string) bool { return strings.HasPrefix(l, "#") || l == "" })
		end := slices.Index(lines, "----")
		if end < 1 {
			continue
		}
		words := strings.Fields(lines[0])
		switch {
		case slices.Contains(beyond, words[0]), words[0] == "cluster" && len(words) > 1:
			return false, nil
		case words[0] == "cluster":
			worlds++
			names = scenario.Names{}
			if !fits(strings.Join(lines[1:end], "\n"), names) {
				return false, nil
			}
		case words[0] == "delete" && !plain(words[1:], names):
			return false, nil
		}
	}
	return worlds > 0, nil
}

// fits tells whether a real server can hold a world for a real collector.
func fits(world string, names scenario.Names) bool {
	objects, err := scenario.ParseWorld(world, names)
	if err != nil {
		return false
	}
	uids := map[types.UID]bool{}
	for _, o := range objects {
		if !collected[o.APIVersion+" "+o.Kind] || uids[o.UID] {
			return false
		}
		uids[o.UID] = true
	}
	return true
}

// plain tells whether a delete says nothing but a policy.
func plain(words []string, names scenario.Names) bool {
	rest := words[1:]
	if _, known := names[types.UID(words[0])]; !known {
		if len(words) < 3 {
			return false
		}
		rest = words[3:]
	}
	return !slices.ContainsFunc(rest, func(w string) bool { return !strings.HasPrefix(w, "policy=") })
}
