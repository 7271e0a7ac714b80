package gctest_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/gctest"
)

// Objects with a missing owner are garbage: WaitSettled returns once they are deleted.
func ExampleStart() {
	var t attempt // as the *testing.T of a test
	defer t.end()
	env := serve(configMap("dependent", "an-owner-that-has-gone"), configMap("other", "")) // as envtest
	defer env.close()

	gc := gctest.Start(&t, env.config())
	if err := gc.WaitSettled(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(env.there())
	// Output: other
}

// An object that waits for a finalizer is settled. Explain shows the finalizer, for the message of a
// test that expected the object to be gone.
func ExampleGC_Explain() {
	var t attempt
	defer t.end()
	env := serve(configMap("database", "an-owner-that-has-gone", "example.com/backup"))
	defer env.close()

	gc := gctest.Start(&t, env.config(), gctest.WithPods(gctest.Never), gctest.WithClaimProtection())
	if err := gc.WaitSettled(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(gc.Explain(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "database"}}))
	// Output:
	// v1 ConfigMap shop/database is being deleted and held by a finalizer: example.com/backup holds it, and the garbage collector leaves it alone.
	//   finalizers: example.com/backup
	//   owner v1 ConfigMap shop/an-owner-that-has-gone: dangling (does not exist)
}
