// Package controller runs the garbage collector of a live cluster as a service. Run operates
// package collect: it elects a leader by a lease, limits writes, reports its work in metrics,
// events and logs, and answers requests over HTTP.
//
// Every write passes three checks. The gate (type gate) knows the intent of a request. It checks
// protection, the mode, the safety limit and the rate limit of deletes. The transport (type
// transport) runs right before the request is sent: no write starts if another process may hold the
// lease. Last, the server checks the preconditions of the request.
package controller
