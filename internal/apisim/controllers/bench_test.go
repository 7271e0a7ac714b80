package controllers_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// crowd is a server with n pods and n other objects in a hundred namespaces,
// and one namespace that is being deleted.
func crowd(b *testing.B, n int) *apisim.Server {
	var text strings.Builder
	text.WriteString("v1 Namespace ns7 phase=Terminating spec=kubernetes deleting\nv1 Node n1\n")
	for i := range n {
		fmt.Fprintf(&text, "v1 Pod ns%d/p%d node=n1 phase=Running period=30\nv1 ConfigMap ns%d/c%d\n", i%100, i, i%100, i)
	}
	return server(b, text.String())
}

// BenchmarkStepAtRest is the price of asking when there is nothing to do, which
// the collector pays whenever it is idle.
func BenchmarkStepAtRest(b *testing.B) {
	w := crowd(b, 10_000)
	list := controllers.All(nil, nil, release.Rules{})
	for {
		if acted, err := controllers.Step(b.Context(), w, list, nil); err != nil {
			b.Fatal(err)
		} else if acted == nil {
			break
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if acted, err := controllers.Step(b.Context(), w, list, nil); acted != nil || err != nil {
			b.Fatal(acted, err)
		}
	}
}

// BenchmarkNamespace empties and ends one namespace of a hundred.
func BenchmarkNamespace(b *testing.B) {
	full := crowd(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		w, list := full.Clone(), controllers.All(nil, nil, release.Rules{})
		for {
			acted, err := controllers.Step(b.Context(), w, list, nil)
			if err != nil {
				b.Fatal(err)
			}
			if acted == nil {
				break
			}
		}
	}
}
