// Package collect is the garbage collector over a live cluster. Run connects the engine to
// the API server: watches go straight into the engine, and what the engine decides goes to
// the API server; there is no second copy of the objects. Everything that writes by
// collecting goes through it: the one-shot command, the service, the collector of tests, and
// the comparison with the collector of Kubernetes. What is decided is the business of the
// engine.
package collect
