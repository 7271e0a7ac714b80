package lost

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/audit"
	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// addLog says what was read of audit logs.
func (d *document) addLog() {
	if log := d.a.Past.Log; log != nil {
		d.out.AuditLog = &report.AuditLog{From: micros(log.First), To: micros(log.Last), Requests: len(log.Requests), CutOff: log.Cut}
	}
}

// sentOf is a request of the audit log; nil for none.
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

// senderOf is who sent a request, all of its parts. Of those it is the one that is least sure
// that tells by what they were matched.
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

// micros is a time in microseconds as text; empty where it is not known.
func micros(at int64) string {
	if at == 0 {
		return ""
	}
	return time.UnixMicro(at).UTC().Format("2006-01-02T15:04:05.000000Z07:00")
}
