// Package controller runs the garbage collector of a live cluster as a service. Run operates
// package collect: it elects a leader by a lease, limits writes, reports its work in metrics,
// events and logs, and answers requests over HTTP.
//
// Every write passes three gates. The gate of a request (gate.go) knows the intent: protection, the
// mode, the safety limit, the rate limit of deletes. The transport (transport.go) is right before
// the wire and knows the time: no write starts when another process may have the lease. The
// preconditions of the request are the last gate, which the server checks.
package controller
