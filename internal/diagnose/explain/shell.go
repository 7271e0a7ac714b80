package explain

import "github.com/kubectl-gc/kubectl-gc/internal/report"

// Argument names an object for kubectl, safe to paste into a shell.
func Argument(r report.Ref) string { return argument(r) }

// Quote makes a foreign text one word of a shell.
func Quote(s string) string { return quote(s) }
