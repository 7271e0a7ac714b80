// Package controller is the garbage collector of a live cluster as a service. Run operates
// package collect: it leads by a lease, bounds what is written, tells what it does in
// metrics, events and logs, and answers questions over HTTP.
//
// Every write passes three gates. The gate of a request (gate.go) knows the intent:
// protection, the mode, the safety limit, the limiter of deletes. The transport (transport.go)
// stands right before the wire and knows the time: no write starts when the lease may
// be somebody else's. The preconditions of the request are the last one, and the
// server's.
package controller
