package lost

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/audit"
	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// addLog adds what was read from audit logs.
func (d *document) addLog() {
	if log := d.a.Past.Log; log != nil {
		d.out.AuditLog = &report.AuditLog{From: micros(log.First), To: micros(log.Last), Requests: len(log.Requests), CutOff: log.Cut}
	}
}

// sentOf converts a request of the audit log; nil for nil.
func sentOf(r *audit.Request, match history.Match) *report.Sent {
	if r == nil {
		return nil
	}
	out := &report.Sent{
		Verb: string(r.Verb), User: r.User, ImpersonatedUser: r.Impersonated, UserAgent: r.Agent, SourceIPs: r.Addresses,
		Time: micros(r.Received), AuditIDs: []string{r.ID}, MatchedBy: string(match),
	}
	if r.Options != nil {
		out.Options = &report.SentOptions{PropagationPolicy: r.Options.Policy, GracePeriodSeconds: r.Options.Grace}
	}
	return out
}

// senderOf returns the sender of a request with all its parts. MatchedBy is that of the least certain
// part.
func (d *document) senderOf(r *history.Request) *report.Sent {
	if len(r.Sent) == 0 {
		return nil
	}
	match := history.ByUID
	for _, i := range r.Losses {
		if l := &d.a.Losses[i]; l.Sent != nil && (l.Match == history.BySelector || match == history.ByUID) {
			match = l.Match
		}
	}
	out := sentOf(r.Sent[0], match)
	for _, other := range r.Sent[1:] {
		out.AuditIDs = append(out.AuditIDs, other.ID)
	}
	return out
}

// micros formats a time in microseconds; empty for 0, which means unknown.
func micros(at int64) string {
	if at == 0 {
		return ""
	}
	return time.UnixMicro(at).UTC().Format("2006-01-02T15:04:05.000000Z07:00")
}
