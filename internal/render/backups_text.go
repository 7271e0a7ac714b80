package render

import (
	"bufio"
	"io"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// BackupsText lists backups, for people.
func BackupsText(out io.Writer, s Style, list []report.Backup) error {
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	t := &table{headers: []string{"NAME", "COMMAND", "OBJECTS", "CLUSTER"}}
	for i := range list {
		b := &list[i]
		if b.Unreadable != "" {
			t.add("", s.text(b.Name), "-", "-", s.text(b.Unreadable))
			continue
		}
		t.add("", s.text(b.Name), s.text(b.Command), strconv.Itoa(b.Objects), s.text(b.Server))
	}
	w.table(t)
	return w.done()
}
