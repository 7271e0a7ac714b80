package render

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// BackupsText lists backups as text: content, time and whether they were undone.
func BackupsText(out io.Writer, s Style, list *report.Backups) error {
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	t := &table{headers: []string{"NAME", "WHEN", "COMMAND", "WHAT", "UNDONE", "CLUSTER"}}
	for i := range list.Backups {
		b := &list.Backups[i]
		if b.Unreadable != "" {
			t.add("", s.text(b.Name), "-", "-", "-", "-", s.text(b.Unreadable))
			continue
		}
		t.add("", s.text(b.Name), formatMinute(b.Created), s.text(b.Command), backupContent(s, b), undoneAt(b), s.text(b.Server))
	}
	w.table(t)
	return w.done()
}

// backupContent summarizes the content of a backup.
func backupContent(s Style, b *report.Backup) string {
	switch {
	case b.Main == nil:
		return "nothing"
	case b.Objects == 1:
		return s.nameInNamespace(*b.Main)
	}
	return s.nameInNamespace(*b.Main) + " and " + strconv.Itoa(b.Objects-1) + " more"
}

func undoneAt(b *report.Backup) string {
	switch {
	case b.Undone == "":
		return "no"
	case b.Partly:
		return "partly, " + formatMinute(b.Undone)
	}
	return formatMinute(b.Undone)
}

// formatMinute returns an RFC 3339 time without its seconds.
func formatMinute(at string) string {
	if len(at) < len("2026-11-21T22:17") {
		return "-"
	}
	return strings.Replace(at[:len("2026-11-21T22:17")], "T", " ", 1)
}
