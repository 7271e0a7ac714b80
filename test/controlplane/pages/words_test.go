package pages

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// named are things that have another name in every run. On pages they have these, in
// the order in which they come up; a command of a page means the one that has got
// this name, or else the last one. The name is the last group of the form.
var named = []struct {
	form *regexp.Regexp
	// page is how a page writes one of them in a command.
	page  *regexp.Regexp
	names []string
}{
	{
		regexp.MustCompile(`\d{8}T\d{6}Z-[0-9a-f]{8}`), regexp.MustCompile(`\d{8}T\d{6}Z-[0-9a-f]{8}`),
		[]string{"20261121T221724Z-8c2b51d0", "20261121T221731Z-3211cfe4", "20261121T221745Z-4e16dfff"},
	},
	{
		regexp.MustCompile(`sha256:[0-9a-f]{64}`), regexp.MustCompile(`sha256:[0-9a-f]{4}…|\bDIGEST\b`),
		[]string{"sha256:8c2b…", "sha256:3211…", "sha256:4e16…", "sha256:fd78…"},
	},
	{
		regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`), nil,
		[]string{"5e1f6a0c-33a8-4c6e-9d54-0d0c2b1f7a10", "473c6f4f-a1cc-46ef-b7ef-1e0eba903c5a", "839109b8-fc89-495e-8b02-1f360fefcfe2"},
	},
	{regexp.MustCompile(`\bweb-[0-9a-f]+-([a-z0-9]{5})\b`), nil, []string{"4xk2p", "9qv7d", "mz6cl"}},
}

// written are words of commands on pages, and what a reader here writes instead.
var written = []struct {
	form *regexp.Regexp
	real func(*walk) string
}{
	{regexp.MustCompile(`/tmp/`), func(w *walk) string { return w.temporary + "/" }},
	{regexp.MustCompile(`/var/log/kubernetes/audit\.log`), func(*walk) string { return plane.AuditLog() }},
	{regexp.MustCompile(`\bBACKUP\b`), func(w *walk) string { return w.backup }},
	// The port may be somebody else's on this machine: any other one will do. It looks for
	// another collector twice as long as it waits before it looks for kinds again.
	{regexp.MustCompile(`--address=127\.0\.0\.1:8080`), func(*walk) string { return "" }},
	{regexp.MustCompile(`\bkubectl gc controller\b`), func(*walk) string { return "kubectl gc controller --address=127.0.0.1:0 --sync-period=1s" }},
}

// changing is what else differs from one run to the next in what is printed.
var changing = []struct {
	form *regexp.Regexp
	word string
}{
	{regexp.MustCompile(`https://127\.0\.0\.1:\d+`), "https://127.0.0.1:6443"},
	// When something was deleted and by whom, and how far back a server remembers.
	{
		regexp.MustCompile(`\d\d:\d\d:\d\d UTC \(\d+[smh]\s+ago\)\s+by\s+admin\s+\(kubectl/\S+,\s+127\.0\.0\.1\),\s+and\s+(\d+)\s+objects\s+with\s+it\.`),
		"14:02:31 UTC (2m ago) by alice (kubectl/v1.37.2, 10.0.0.7),\n  and $1 objects with it.",
	},
	{regexp.MustCompile(`\d\d:\d\d:\d\d UTC \(\d+[smh] ago\), and`), "14:02:31 UTC (2m ago), and"},
	{regexp.MustCompile(`begins at (revision \d+|\d\d:\d\d:\d\d UTC \(\d+[smh] ago\))`), "begins at 13:57:10 UTC (7m ago)"},
	// Of lines of progress the last one is always the same.
	{regexp.MustCompile(`(?m)(^\d+ of \d+ gone.*\n)*(^\d+ of \d+ gone.*\n)`), "$2"},
}

// backupForm is how a command names the backup that it has made.
var backupForm = regexp.MustCompile(`(?m)^Backup and journal: (\S+)$`)

// names are the names that things have got on one page.
type names struct {
	// known are the real names of each of named, in the order in which they came up.
	known [][]string
	// last is the real one that was printed last.
	last []string
}

func newNames() names {
	return names{known: make([][]string, len(named)), last: make([]string, len(named))}
}

// learn remembers what an output names.
func (n *names) learn(output string) {
	for i, kind := range named {
		for _, found := range kind.form.FindAllStringSubmatch(output, -1) {
			n.last[i] = found[len(found)-1]
			if !slices.Contains(n.known[i], n.last[i]) {
				n.known[i] = append(n.known[i], n.last[i])
			}
		}
	}
}

// shown puts the names of pages into an output.
func (n *names) shown(output string) (string, error) {
	for i, kind := range named {
		for j, real := range n.known[i] {
			if !strings.Contains(output, real) {
				continue
			}
			if j >= len(kind.names) {
				return "", fmt.Errorf("%s is one more than there are names for", real)
			}
			output = strings.ReplaceAll(output, real, kind.names[j])
		}
	}
	return output, nil
}

// meant puts real names into a command of a page.
func (n *names) meant(command string) string {
	for i, kind := range named {
		if kind.page == nil {
			continue
		}
		command = kind.page.ReplaceAllStringFunc(command, func(name string) string {
			if j := slices.Index(kind.names, name); j >= 0 && j < len(n.known[i]) {
				return n.known[i][j]
			}
			return n.last[i]
		})
	}
	return command
}
