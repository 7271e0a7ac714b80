// Package claims compares real.txt, which says what was shown on a real control
// plane, with what the tests of the control plane show.
package claims

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is real.txt, as seen from a package of test/controlplane.
const File = "../real.txt"

// repository is the way to the root of the repository from such a package.
const repository = "../../.."

// Claims are the lines of real.txt that a scenario file stands for: one for every
// number after `# Covers:`.
func Claims(word, file string) ([]string, error) {
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
		if list, ok := strings.CutPrefix(strings.TrimSpace(line), "# Covers:"); ok {
			lines = append(lines, entries(list, word, filepath.ToSlash(path))...)
		}
	}
	return lines, nil
}

// entries are the lines of real.txt for numbers separated by commas.
func entries(list, word, path string) []string {
	var lines []string
	for id := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSpace(list), "."), ",") {
		lines = append(lines, strings.TrimSpace(id)+" "+word+" "+path)
	}
	return lines
}

// Disagreement says what real.txt claims with a word and was not shown (-), and
// what was shown and is not claimed (+). It is empty when both are the same.
func Disagreement(word string, shown []string) (string, error) {
	return disagreement(File, word, shown)
}

func disagreement(file, word string, shown []string) (string, error) {
	have, err := read(file, word)
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

// read returns the lines of a file that begin with a number and then the word.
func read(file, word string) ([]string, error) {
	text, err := os.ReadFile(file)
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
