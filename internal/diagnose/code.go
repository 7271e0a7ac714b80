package diagnose

import "github.com/kubectl-gc/kubectl-gc/internal/reason"

// Code is a kind of finding. Codes are API; docs/reasons.md lists them.
type Code string

// CodeText is one documented code.
type CodeText struct {
	Code     Code
	Severity reason.Severity
	Text     string
}

// SeverityOf is the severity that a list gives a code.
func SeverityOf(list []CodeText, code Code) reason.Severity {
	for _, c := range list {
		if c.Code == code {
			return c.Severity
		}
	}
	return reason.Error
}
