// Package collect is the garbage collector for a live cluster. Run connects the engine to the API
// server: watch events go directly to the engine, and its decisions become requests. There is no
// second copy of the objects. Everything that collects goes through it: the one-shot command, the
// service, the collector of tests, and the comparison with the collector of Kubernetes. The engine
// makes all decisions.
package collect
