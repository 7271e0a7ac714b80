package controllers

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// Health says what is known of those on machines who end pods. An empty text says that
// they do their part, or that nothing is known.
type Health interface {
	// Kubelet says why the kubelet of a node does not end pods.
	Kubelet(node string) string
	// PodGC says why pod GC has not removed a pod that is being deleted and whose node
	// is missing.
	PodGC(pod *object.Object) string
}

// healthy is the health of a world of which nothing bad is known.
type healthy struct{}

func (healthy) Kubelet(string) string       { return "" }
func (healthy) PodGC(*object.Object) string { return "" }

func orHealthy(h Health) Health {
	if h == nil {
		return healthy{}
	}
	return h
}
