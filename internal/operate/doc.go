// Package operate runs the collector as a service of a cluster: it leads by a lease,
// bounds what is written, tells what it does in metrics, events and logs, and answers
// questions over HTTP. What is decided is the business of the engine.
//
// Every write passes three gates. The gate of a request (gate.go) knows the intent:
// protection, the mode, the fuse, the limiter of deletes. The transport (transport.go)
// stands right before the wire and knows the time: no write starts when the lease may
// be somebody else's. The preconditions of the request are the last one, and the
// server's.
package operate
