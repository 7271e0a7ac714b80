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
		t.add("", s.text(b.Name), minute(b.Created), s.text(b.Command), taken(s, b), undoneAt(b), s.text(b.Server))
	}
	w.table(t)
	return w.done()
}

// taken summarizes the content of a backup.
func taken(s Style, b *report.Backup) string {
	switch {
	case b.Main == nil:
		return "nothing"
	case b.Objects == 1:
		return s.where(*b.Main)
	}
	return s.where(*b.Main) + " and " + strconv.Itoa(b.Objects-1) + " more"
}

func undoneAt(b *report.Backup) string {
	switch {
	case b.Undone == "":
		return "no"
	case b.Partly:
		return "partly, " + minute(b.Undone)
	}
	return minute(b.Undone)
}

// minute returns an RFC 3339 time without its seconds.
func minute(at string) string {
	if len(at) < len("2026-11-21T22:17") {
		return "-"
	}
	return strings.Replace(at[:len("2026-11-21T22:17")], "T", " ", 1)
}
