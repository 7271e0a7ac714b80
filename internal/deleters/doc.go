// Package deleters has the garbage collector and the other controllers that delete work on a
// live API server that has none, as that of a test, and knows when nothing is left to do.
//
// The collector is package collect, with the rules of Kubernetes. The others are those of
// apisim/controllers, over a world that is a cache of what the same watches show, and whose
// requests go to the server. Nothing is sent twice for one version of an object.
package deleters
