// Package deleters runs the garbage collector and the other deleting controllers on a live API
// server that has none, such as that of a test, and detects when nothing is left to do.
//
// The collector is package collect with the rules of Kubernetes. The other controllers are those of
// apisim/controllers, on a cache that the same watches fill. Their requests go to the server. No
// request is sent twice for one version of an object.
package deleters
