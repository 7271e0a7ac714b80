package cli

import "strings"

// text is a text of help without the indentation that it has in the source. Its
// lines stay as they are written: they fit into 80 columns.
func text(raw string) string {
	lines := strings.Split(strings.TrimSpace(raw), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
