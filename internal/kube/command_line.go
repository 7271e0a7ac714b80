package kube

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// CommandLine is the command with all arguments of a container.
type CommandLine struct {
	Pod  object.Ref
	Args []string
}

// mostPods is how many pods are asked for their command lines: no cluster runs more of
// the same component of its control plane.
const mostPods = "50"

// CommandLines reads the command lines of the containers of the pods in a namespace
// that have the labels.
func (c *Client) CommandLines(ctx context.Context, namespace, labels string) ([]CommandLine, error) {
	about := subject{resource: object.Pod.Resource(), namespace: namespace}
	var list corev1.PodList
	_, err := c.readWhole(ctx, request{
		verb: http.MethodGet, path: []string{"api", "v1", "namespaces", namespace, "pods"},
		query:  url.Values{"labelSelector": {labels}, "limit": {mostPods}},
		accept: jsonType, about: about,
	}, &list)
	if err == nil && list.Kind != "PodList" {
		err = &UnexpectedAnswerError{About: about.String(), What: "it is a " + quote(list.Kind)}
	}
	if err != nil {
		return nil, err
	}
	var lines []CommandLine
	for i := range list.Items {
		p := &list.Items[i]
		ref := object.Pod.Ref(p.Namespace, p.Name)
		ref.UID = p.UID
		for j := range p.Spec.Containers {
			lines = append(lines, CommandLine{Pod: ref, Args: slices.Concat(p.Spec.Containers[j].Command, p.Spec.Containers[j].Args)})
		}
	}
	return lines, nil
}
