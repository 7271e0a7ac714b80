package report

// AuditLog is what was read of audit logs. What is not in them proves nothing: a log may leave
// requests out, and each API server has its own.
type AuditLog struct {
	// From and To are when the first and the last request of the logs came, in RFC 3339; absent
	// of empty ones.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Requests counts the deletes and evictions that were carried out in the time looked at.
	Requests int `json:"requests"`
	// CutOff are the logs that end within a line.
	CutOff []string `json:"cutOff,omitempty"`
}

// Sent is a request in an audit log, or several of one client that asked for the same.
type Sent struct {
	// Verb is delete, deletecollection or evict.
	Verb string `json:"verb"`
	User string `json:"user"`
	// ImpersonatedUser is in whose name that was.
	ImpersonatedUser string `json:"impersonatedUser,omitempty"`
	UserAgent        string `json:"userAgent,omitempty"`
	// SourceIPs are where it came from. All but the last one may be made up by the client.
	SourceIPs []string `json:"sourceIPs,omitempty"`
	// Options are what was asked for; absent where the log does not have that.
	Options *SentOptions `json:"options,omitempty"`
	// Time is when it came, in RFC 3339; of several when the first one did.
	Time string `json:"time"`
	// AuditIDs are the names of the requests in the log.
	AuditIDs []string `json:"auditIDs"`
	// MatchedBy is UID, Name or Selector: what shows that it was this request. With Selector it
	// is a deletecollection, which fits by its selector and time, and may have come too late.
	MatchedBy string `json:"matchedBy"`
}

// SentOptions are the options of a request; those that it did not name are absent.
type SentOptions struct {
	PropagationPolicy  string `json:"propagationPolicy,omitempty"`
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
}
