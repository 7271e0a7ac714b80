package report

// AuditLog describes the audit logs that were read. Their silence proves nothing: a log may leave
// requests out, and each API server has its own.
type AuditLog struct {
	// From and To are the times of the first and last request in the logs, in RFC 3339; absent for
	// empty logs.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Requests counts the successful deletes and evictions in the examined time.
	Requests int `json:"requests"`
	// CutOff are the logs that end in the middle of a line.
	CutOff []string `json:"cutOff,omitempty"`
}

// Sent is a request in an audit log, or several of one client that asked for the same.
type Sent struct {
	// Verb is delete, deletecollection or evict.
	Verb string `json:"verb"`
	User string `json:"user"`
	// ImpersonatedUser is the user that the request impersonated.
	ImpersonatedUser string `json:"impersonatedUser,omitempty"`
	UserAgent        string `json:"userAgent,omitempty"`
	// SourceIPs are the addresses that it came from. The client can forge all but the last.
	SourceIPs []string `json:"sourceIPs,omitempty"`
	// Options are the options of the request; absent if the log does not have them.
	Options *SentOptions `json:"options,omitempty"`
	// Time is when the first of the requests came, in RFC 3339.
	Time string `json:"time"`
	// AuditIDs are the names of the requests in the log.
	AuditIDs []string `json:"auditIDs"`
	// MatchedBy is UID, Name or Selector: how the request was found. With Selector it is a
	// deletecollection that matches by selector and time, and may have come too late.
	MatchedBy string `json:"matchedBy"`
}

// SentOptions are the options of a request. Options that it does not set are absent.
type SentOptions struct {
	PropagationPolicy  string `json:"propagationPolicy,omitempty"`
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
}
