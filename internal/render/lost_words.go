package render

import (
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// lossWhy returns the cause of a loss, with alternatives.
func lossWhy(s Style, x *report.Loss) string {
	causes := []string{causeText(s, x.LossCause)}
	for _, c := range x.Or {
		causes = append(causes, causeText(s, c))
	}
	return senderWhy(s, x, strings.Join(causes, ", or "))
}

// causeText returns a cause briefly, with the other object.
func causeText(s Style, c report.LossCause) string {
	text := s.text(c.Code)
	if m := reason.Lost.Of(reason.Code(c.Code)); m != nil {
		text = m.Short
	}
	switch {
	case c.By == nil || c.By.Name == "":
		return strings.TrimSuffix(text, ":")
	case reason.Code(c.Code) == reason.OwnerNamespaceMismatch:
		return text + " " + s.where(*c.By)
	default:
		return text + " " + s.name(*c.By)
	}
}

// momentText returns a moment, and how long that is before the end of the history.
func momentText(s Style, l *lostLook, m report.Moment) string {
	at, ok := timeOf(m)
	if !ok {
		return clockText(s, l, m)
	}
	text := clockText(s, l, m) + " UTC"
	if now, ok := timeOf(l.To); ok && s.manner != paged && now.Unix() >= at.Unix() {
		ago, than := int(now.Unix()-at.Unix()), " ago)"
		if l.ofFile() {
			than = " before the file ends)"
		}
		text += " (" + span(&ago) + than
	}
	return text
}

// ofFile reports whether the history is from a file, so its end is not now.
func (l *lostLook) ofFile() bool { return l.Source.Type != "cluster" }

// clockText returns a moment for a column: the time of day, with the date if it is not the date of
// the end of the history.
func clockText(s Style, l *lostLook, m report.Moment) string {
	const day, clock = "2006-01-02", "15:04:05"
	at, ok := timeOf(m)
	switch {
	case !ok && m.Time != "":
		return s.text(m.Time)
	case !ok:
		return "revision " + strconv.FormatInt(m.Revision, 10)
	}
	if end, ok := timeOf(l.To); ok && end.UTC().Format(day) == at.UTC().Format(day) {
		return at.UTC().Format(clock)
	}
	return at.UTC().Format(day + " " + clock)
}

func timeOf(m report.Moment) (at metav1.Time, known bool) {
	seconds := secondsOf(m.Time)
	return metav1.Unix(seconds, 0), seconds != 0
}
