// Package controller is the garbage collector over a live cluster. Collect connects the
// engine to the API server: watches go straight into the engine, and what the engine
// decides goes to the API server; there is no second copy of the objects. Everything
// that writes by collecting goes through it: the one-shot command, the service, and the
// comparison with the collector of Kubernetes in the tests.
//
// Run operates that as a service: it leads by a lease, bounds what is written, tells what
// it does in metrics, events and logs, and answers questions over HTTP. What is decided
// is the business of the engine.
//
// Every write passes three gates. The gate of a request (gate.go) knows the intent:
// protection, the mode, the safety limit, the limiter of deletes. The transport (transport.go)
// stands right before the wire and knows the time: no write starts when the lease may
// be somebody else's. The preconditions of the request are the last one, and the
// server's.
package controller
