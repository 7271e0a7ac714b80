// Package controllers holds the deleters of a simulated world besides the
// garbage collector: the kubelet, which finishes pods; pod GC, which does so
// where there is no kubelet any more; the namespace controller; the clean-up of
// custom resources when their definition goes, and of the APIService of a definition;
// the PV controller, with the drivers behind it, when a claim leaves its volume; who
// deletes the Endpoints and addresses of a Service that goes, and mirrors of Endpoints; the tokens controller,
// when a ServiceAccount has gone; and
// those that take a finalizer of Kubernetes off when it has served: off claims that no
// pod uses, volumes without a claim, devices that no pod reserves, ranges of addresses
// that no Service needs, Services whose load balancer is down, and pods that no Job has
// to count.
//
// Nobody here creates or adopts anything. ComesBack and Adopters say who would, as far
// as Kubernetes itself is concerned.
//
// Each is driven like the collector: one call, one pass over the world, in a
// fixed order and without a clock. What upstream does some seconds later it does
// here when it is asked to; what upstream retries it tries again in the next
// pass.
//
// A controller deletes what it sees. It says that something is gone for good,
// which is what removing the last finalizer of a namespace or a definition
// means, only where the snapshot behind the world covers everything that could
// hold it up. Otherwise it waits, and says what for (see Wait).
package controllers
