package render

import (
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// lossWhy is who took an object, and who else may have.
func lossWhy(s Style, x *report.Loss) string {
	text := causeText(s, x.LossCause)
	for _, c := range x.Or {
		text += ", or " + causeText(s, c)
	}
	return text
}

// causeText is a cause in a few words, with what the object went with.
func causeText(s Style, c report.LossCause) string {
	text := s.text(c.Code)
	if m := reason.Lost.Of(reason.Code(c.Code)); m != nil {
		text = m.Short
	}
	if c.By != nil && c.By.Name != "" {
		return text + " " + s.name(*c.By)
	}
	return strings.TrimSuffix(text, ":")
}

// momentText is a moment as people say it, and how long ago that is for the cluster.
func momentText(s Style, l *lostLook, m report.Moment) string {
	at, err := time.Parse(time.RFC3339, m.Time)
	if err != nil {
		return clockText(s, l, m)
	}
	text := clockText(s, l, m) + " UTC"
	if now, err := time.Parse(time.RFC3339, l.To.Time); err == nil && l.Source.Type == "cluster" && !now.Before(at) {
		ago := int(now.Sub(at) / time.Second)
		text += " (" + span(&ago) + " ago)"
	}
	return text
}

// clockText is a moment in a column: the time of the day, and the day where it is another one
// than that on which the history ends.
func clockText(s Style, l *lostLook, m report.Moment) string {
	at, err := time.Parse(time.RFC3339, m.Time)
	switch {
	case err != nil && m.Time != "":
		return s.text(m.Time)
	case err != nil:
		return "revision " + strconv.FormatInt(m.Revision, 10)
	}
	at = at.UTC()
	if end, err := time.Parse(time.RFC3339, l.To.Time); err == nil && end.UTC().Format(time.DateOnly) == at.Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}
