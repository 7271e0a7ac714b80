package controllers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// crowd returns a server with n pods and n other objects in a hundred namespaces, and one namespace
// that is being deleted.
func crowd(b *testing.B, n int) *apisim.Server {
	var text strings.Builder
	text.WriteString("v1 Namespace ns7 phase=Terminating spec=kubernetes deleting\nv1 Node n1\n")
	for i := range n {
		fmt.Fprintf(&text, "v1 Pod ns%d/p%d node=n1 phase=Running period=30\nv1 ConfigMap ns%d/c%d\n", i%100, i, i%100, i)
	}
	return server(b, text.String())
}

// BenchmarkStepAtRest measures a Step without work. The collector pays for it whenever it is idle.
func BenchmarkStepAtRest(b *testing.B) {
	w := crowd(b, 10_000)
	list := controllers.All(whole, controllers.Healthy{}, release.Rules{})
	for {
		if acted, err := controllers.Step(b.Context(), w, controllers.To(w), list, nil); err != nil {
			b.Fatal(err)
		} else if acted == nil {
			break
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if acted, err := controllers.Step(b.Context(), w, controllers.To(w), list, nil); acted != nil || err != nil {
			b.Fatal(acted, err)
		}
	}
}

// BenchmarkNamespace empties and deletes one namespace of a hundred.
func BenchmarkNamespace(b *testing.B) {
	full := crowd(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		w, list := full.Clone(), controllers.All(whole, controllers.Healthy{}, release.Rules{})
		for {
			acted, err := controllers.Step(b.Context(), w, controllers.To(w), list, nil)
			if err != nil {
				b.Fatal(err)
			}
			if acted == nil {
				break
			}
		}
	}
}
