package controllers

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// Health says what is known about the programs that finish pods. "" means that they work, or that
// nothing is known.
type Health interface {
	// Kubelet returns why the kubelet of a node doesn't finish pods.
	Kubelet(node string) string
	// PodGC returns why pod GC hasn't removed a pod that is being deleted and has a missing node.
	PodGC(pod *object.Object) string
}

// healthy is a Health without known problems.
type healthy struct{}

func (healthy) Kubelet(string) string       { return "" }
func (healthy) PodGC(*object.Object) string { return "" }

func orHealthy(h Health) Health {
	if h == nil {
		return healthy{}
	}
	return h
}
