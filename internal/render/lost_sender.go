package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// longUser and longAgent are the maximum widths of names that users choose.
const (
	longUser  = 60
	longAgent = 40
)

// bySender returns " by alice (kubectl/v1.37.2, 10.0.0.7)"; empty without an audit log entry.
func bySender(s Style, r *report.LostRequest) string {
	if r.Sent == nil {
		return ""
	}
	agent, _, _ := strings.Cut(r.Sent.UserAgent, " ")
	var from []string
	if agent != "" {
		from = append(from, cutMiddle(s.text(agent), longAgent, s))
	}
	if n := len(r.Sent.SourceIPs); n > 0 {
		from = append(from, s.text(r.Sent.SourceIPs[n-1]))
	}
	text := " by " + userText(s, r.Sent)
	if !r.Certain {
		text = ", perhaps" + text
	}
	if len(from) > 0 {
		text += " (" + strings.Join(from, ", ") + ")"
	}
	return text
}

// userText returns the user of a request, and the impersonated one.
func userText(s Style, sent *report.Sent) string {
	text := cutMiddle(s.text(sent.User), longUser, s)
	if sent.ImpersonatedUser != "" {
		text += " as " + cutMiddle(s.text(sent.ImpersonatedUser), longUser, s)
	}
	return text
}

// sent writes all details of a request from the audit log.
func (w *writer) sent(r *report.LostRequest) {
	if r.Sent == nil {
		return
	}
	s, x := w.style, r.Sent
	words := []string{s.text(x.Verb), "policy not in the log"}
	if x.Options != nil {
		words[1] = "no policy named"
		if x.Options.PropagationPolicy != "" {
			words[1] = "propagationPolicy " + s.text(x.Options.PropagationPolicy)
		}
		if grace := x.Options.GracePeriodSeconds; grace != nil {
			words = append(words, "gracePeriodSeconds "+strconv.FormatInt(*grace, 10))
		}
	}
	if x.UserAgent != "" {
		words = append(words, s.text(x.UserAgent))
	}
	if len(x.SourceIPs) > 0 {
		words = append(words, "from "+s.texts(x.SourceIPs))
	}
	if len(x.AuditIDs) > 0 {
		id := "audit ID " + s.text(x.AuditIDs[0])
		if n := len(x.AuditIDs) - 1; n > 0 {
			id += " and " + strconv.Itoa(n) + " more"
		}
		words = append(words, id)
	}
	text := "  Audit log: " + strings.Join(words, ", ") + "."
	if x.MatchedBy == "Selector" {
		text += " It matches by selector and time; the log does not name the objects."
	}
	w.prose(text, 4)
}

// senderWhy adds the sender of the DELETE to a cause that does not name it.
func senderWhy(s Style, x *report.Loss, text string) string {
	if x.Sent != nil && len(x.Or) == 0 {
		switch reason.Code(x.Code) {
		case reason.Evicted:
			text += " by " + userText(s, x.Sent)
		case reason.ByKubernetes, reason.CleanedUp:
			text += " (" + userText(s, x.Sent) + ")"
		default: // the cause names it
		}
	}
	if x.Contradicts != nil {
		text += "; history alone says: " + causeText(s, *x.Contradicts)
	}
	return text
}

// auditNotes returns the notes about gaps and contradictions of the audit log.
func auditNotes(s Style, l *lostLook) []string {
	if l.AuditLog == nil {
		return nil
	}
	var notes []string
	for _, name := range l.AuditLog.CutOff {
		notes = append(notes, s.text(name)+" ends within a line: its last request is left out.")
	}
	if text := uncovered(s, l); text != "" {
		notes = append(notes, text)
	}
	n := 0
	for i := range l.Losses {
		if l.Losses[i].Contradicts != nil {
			n++
		}
	}
	if n > 0 {
		text := s.paint(bold, "The audit log contradicts") + " what history alone says of " + plural(n, "object") + "."
		if !s.Wide {
			text += " Details: -o wide."
		}
		notes = append(notes, text)
	}
	return notes
}

// uncovered counts the deletes without a sender in the audit log.
func uncovered(s Style, l *lostLook) string {
	if l.AuditLog.From == "" {
		return "The audit log is empty."
	}
	from, to := report.Moment{Time: l.AuditLog.From}, report.Moment{Time: l.AuditLog.To}
	first, last := secondsOf(l.AuditLog.From), secondsOf(l.AuditLog.To)
	when := "(" + clockText(s, l, from) + " to " + clockText(s, l, to) + " UTC)"
	switch begin, end := secondsOf(l.From.Time), secondsOf(l.To.Time); {
	case begin != 0 && last < begin:
		return "The audit log ends at " + momentText(s, l, to) + ": it has nothing of the time looked at."
	case end != 0 && first > end:
		return "The audit log begins at " + momentText(s, l, from) + ": it has nothing of the time looked at."
	case l.Summary.Deleted+l.Summary.BeingDeleted == 0:
		return ""
	case !slices.ContainsFunc(l.Losses, func(x report.Loss) bool { return x.Sent != nil }):
		return "The audit log " + when + " has no request that matches what was deleted."
	}
	requests := requestsByToll(l)
	missing := 0
	for _, r := range requests {
		if r.Sent == nil {
			missing++
		}
	}
	if missing == 0 {
		return ""
	}
	return "The audit log " + when + " does not have " + strconv.Itoa(missing) + " of " + plural(len(requests), "delete") + "."
}
