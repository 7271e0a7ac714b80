package kube

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// CommandLine is the command of a container with all arguments.
type CommandLine struct {
	Pod  object.Ref
	Args []string
}

// mostPods limits the pods that are read for their command lines. No cluster runs more pods of one
// control plane component.
const mostPods = "50"

// CommandLines returns the command lines of all containers of the pods with the labels in a
// namespace.
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
