// Package gctest runs a garbage collector in tests against an API server that has none, such as
// that of envtest. It supports background and foreground deletion and orphaning. It also empties
// namespaces that are being deleted, and ends deleted pods, since no kubelet does that.
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
// It follows the rules of the API server's own release, and runs the same code that predicts
// deletes in kubectl gc. The instances of a deleted CustomResourceDefinition are deleted by the API
// server itself.
//
// This package is stable: exported identifiers are not changed or removed within a major version of
// the module.
package gctest
