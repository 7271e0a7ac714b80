package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// The kubelets of the nodes, and the scheduler. What they write is what theirs
// write, as far as somebody who looks at a dump would miss it.

const (
	asJSON      = "application/json"
	asStrategic = "application/strategic-merge-patch+json"
)

type object = map[string]any

type node struct {
	Metadata struct{ Name, UID string }
}

// pod is what a kubelet has to know of one.
type pod struct {
	Metadata struct {
		Namespace, Name, GenerateName string
		DeletionTimestamp             string
		DeletionGracePeriodSeconds    int64
	}
	Spec struct {
		NodeName   string
		Containers []struct{ Name, Image string }
		Affinity   json.RawMessage
	}
	Status struct{ Phase, PodIP string }
}

func (p pod) path() string {
	return "/api/v1/namespaces/" + p.Metadata.Namespace + "/pods/" + p.Metadata.Name
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// send sends a document.
func (s *stage) request(ctx context.Context, method, path, contentType string, document any) error {
	body, err := json.Marshal(document)
	if err != nil {
		return err
	}
	_, err = s.Do(ctx, method, path, contentType, body)
	return err
}

func (s *stage) nodes(ctx context.Context) ([]node, error) {
	var list struct{ Items []node }
	err := s.get(ctx, "/api/v1/nodes", &list)
	return list.Items, err
}

// startNodes has the nodes say that they are ready, and renew their leases.
func (s *stage) startNodes(ctx context.Context) error {
	nodes, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	for i, n := range nodes {
		resources := object{"cpu": "4", "memory": "16Gi", "pods": "110"}
		status := object{"status": object{
			"addresses":  []object{{"type": "InternalIP", "address": hostIP(i)}, {"type": "Hostname", "address": n.Metadata.Name}},
			"capacity":   resources,
			"conditions": []object{{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status", "lastHeartbeatTime": now(), "lastTransitionTime": now()}},
			"nodeInfo": object{"kubeletVersion": "v1.37.2", "operatingSystem": "linux", "architecture": "amd64", "containerRuntimeVersion": "containerd://2.2.1",
				"machineID": "", "systemUUID": "", "bootID": "", "kernelVersion": "6.12.0", "osImage": "Debian GNU/Linux 13 (trixie)", "kubeProxyVersion": ""},
		}}
		path := "/api/v1/nodes/" + n.Metadata.Name
		if err := s.request(ctx, http.MethodPatch, path+"/status", asStrategic, status); err != nil {
			return err
		}
		// Every node is born as one that is not ready.
		if err := s.request(ctx, http.MethodPatch, path, "application/merge-patch+json", object{"spec": object{"taints": nil}}); err != nil {
			return err
		}
		owner := object{"apiVersion": "v1", "kind": "Node", "name": n.Metadata.Name, "uid": n.Metadata.UID}
		lease := object{
			"metadata": object{"name": n.Metadata.Name, "ownerReferences": []object{owner}},
			"spec": object{"holderIdentity": n.Metadata.Name, "leaseDurationSeconds": 40,
				"renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")},
		}
		if err := s.request(ctx, http.MethodPost, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", asJSON, lease); err != nil {
			return err
		}
	}
	return nil
}

func hostIP(node int) string { return fmt.Sprintf("192.168.0.%d", 11+node) }

// podList are the pods for which something holds, in an order that does not rest
// on the chance in their names: those with one template are all alike.
func (s *stage) podList(ctx context.Context, holds func(pod) bool) ([]pod, error) {
	var list struct{ Items []pod }
	err := s.get(ctx, "/api/v1/pods", &list)
	pods := slices.DeleteFunc(list.Items, func(p pod) bool { return !holds(p) })
	slices.SortStableFunc(pods, func(a, b pod) int {
		return cmp.Or(cmp.Compare(a.Metadata.Namespace, b.Metadata.Namespace),
			cmp.Compare(a.Metadata.GenerateName, b.Metadata.GenerateName),
			cmp.Compare(string(a.Spec.Affinity), string(b.Spec.Affinity)), // of a DaemonSet's pods: the node
			cmp.Compare(a.Metadata.Name, b.Metadata.Name))
	})
	return pods, err
}

// runPods waits until so many pods wait for a node, gives them one, and reports
// that they run.
func (s *stage) runPods(ctx context.Context, want int) error {
	nodes, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	var waiting []pod
	err = until(ctx, fmt.Sprintf("%d pods wait for a node", want), func() (bool, error) {
		waiting, err = s.podList(ctx, func(p pod) bool { return p.Spec.NodeName == "" })
		if len(waiting) > want {
			err = fmt.Errorf("%d pods wait for a node, not %d", len(waiting), want)
		}
		return len(waiting) == want, err
	})
	if err != nil {
		return err
	}
	for i, p := range waiting {
		if err := s.runPod(ctx, p, nodes, i%len(nodes)); err != nil {
			return fmt.Errorf("pod %s: %w", p.Metadata.Name, err)
		}
	}
	return nil
}

func (s *stage) runPod(ctx context.Context, p pod, nodes []node, chosen int) error {
	for i, n := range nodes { // a DaemonSet has chosen already
		if slices.Contains(wordsOf(p.Spec.Affinity), n.Metadata.Name) {
			chosen = i
		}
	}
	s.pods++
	ip := fmt.Sprintf("10.244.%d.%d", chosen+1, s.pods+1)
	binding := object{"metadata": object{"name": p.Metadata.Name}, "target": object{"kind": "Node", "name": nodes[chosen].Metadata.Name}}
	if err := s.request(ctx, http.MethodPost, p.path()+"/binding", asJSON, binding); err != nil {
		return err
	}
	return s.request(ctx, http.MethodPatch, p.path()+"/status", asStrategic, object{"status": object{
		"phase": "Running", "startTime": now(), "hostIP": hostIP(chosen), "hostIPs": []object{{"ip": hostIP(chosen)}},
		"podIP": ip, "podIPs": []object{{"ip": ip}},
		"conditions":        conditions("True", ""),
		"containerStatuses": p.containers(ip, true, object{"running": object{"startedAt": now()}}),
	}})
}

// endPods reports that the pods of Jobs have done their work.
func (s *stage) endPods(ctx context.Context) error {
	pods, err := s.podList(ctx, func(p pod) bool { return p.Spec.NodeName != "" && p.Spec.Containers[0].Name == "report" })
	if err != nil {
		return err
	}
	for _, p := range pods {
		done := object{"terminated": object{"exitCode": 0, "reason": "Completed", "startedAt": now(), "finishedAt": now()}}
		if err := s.request(ctx, http.MethodPatch, p.path()+"/status", asStrategic, object{"status": object{
			"phase":             "Succeeded",
			"conditions":        conditions("False", "PodCompleted"),
			"containerStatuses": p.containers(p.Status.PodIP, false, done),
		}}); err != nil {
			return err
		}
	}
	return nil
}

// stopPods waits until so many pods are being deleted, and stops them.
func (s *stage) stopPods(ctx context.Context, want int) error {
	stopped := 0
	return until(ctx, "pods are being deleted", func() (bool, error) {
		n, err := s.stopMarked(ctx)
		stopped += n
		return stopped >= want, err
	})
}

// stopMarked reports that the pods that are being deleted have stopped, and returns
// how many these were. Then they go, unless something else holds them.
func (s *stage) stopMarked(ctx context.Context) (int, error) {
	marked, err := s.podList(ctx, func(p pod) bool {
		return p.Metadata.DeletionTimestamp != "" && p.Metadata.DeletionGracePeriodSeconds != 0
	})
	for _, p := range marked {
		err = errors.Join(err, s.request(ctx, http.MethodDelete, p.path(), asJSON, object{"gracePeriodSeconds": 0}))
	}
	return len(marked), err
}

func conditions(ready, reason string) []object {
	list := []object{{"type": "PodReadyToStartContainers", "status": ready}, {"type": "Initialized", "status": "True"},
		{"type": "Ready", "status": ready}, {"type": "ContainersReady", "status": ready}}
	for _, c := range list {
		c["lastTransitionTime"] = now()
		if reason != "" {
			c["reason"] = reason
		}
	}
	return list
}

func (p pod) containers(ip string, ready bool, state object) []object {
	var list []object
	for _, c := range p.Spec.Containers {
		id := fmt.Sprintf("containerd://%x", sha256.Sum256([]byte(ip+c.Name)))
		if ended, ok := state["terminated"].(object); ok {
			ended["containerID"] = id
		}
		list = append(list, object{"name": c.Name, "image": "docker.io/library/" + c.Image, "containerID": id,
			"imageID": fmt.Sprintf("docker.io/library/%s@sha256:%x", c.Image, sha256.Sum256([]byte(c.Image))),
			"ready":   ready, "started": ready, "restartCount": 0, "state": state, "lastState": object{}})
	}
	return list
}

// wordsOf are all the strings in a document.
func wordsOf(raw json.RawMessage) []string {
	var document any
	if json.Unmarshal(raw, &document) != nil {
		return nil // there is none
	}
	var words []string
	eachString(document, func(w string) string { words = append(words, w); return w })
	return words
}
