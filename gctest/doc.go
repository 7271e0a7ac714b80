// Package gctest is a garbage collector for tests against an API server that has none, such as
// that of envtest. It deletes dependents whose owners have gone, in the background, in the
// foreground, and orphans them; it empties namespaces that are deleted and finishes pods, for
// which there is no kubelet.
//
//	testEnv := &envtest.Environment{}
//	cfg, err := testEnv.Start()
//	…
//	gc := gctest.Start(t, cfg) // collects until the test ends
//	…
//	if err := gc.WaitSettled(ctx); err != nil { // nothing is left to do
//		t.Fatal(err)
//	}
//
// What is deleted, and in which order, is decided by the rules of the API server's own release, by the same
// code that predicts deletes in kubectl gc. Instances of a CustomResourceDefinition that is
// deleted are the work of the API server itself.
//
// This package is stable: what is exported is not changed or removed within a major version of
// the module.
package gctest
