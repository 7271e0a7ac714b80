package stuck

import (
	"maps"
	"strings"
)

type body = map[string]any

// operator is a controller: an account, a role, a workload, a pod and a lease.
// Nothing runs in it; its pod says that it does.
type operator struct {
	Name string `json:"name"`
	// In is its namespace; by default one of its own.
	In string `json:"in"`
	// Verbs are what it may do with the kinds of the situation; with none nobody has
	// bound its role.
	Verbs *[]string `json:"verbs"`
	// Replicas are what its Deployment wants: a number, or none for no Deployment.
	Replicas any `json:"replicas"`
	// Pod is Running, Crashing, Pending, or none.
	Pod string `json:"pod"`
	// Lease is when it was renewed; without one there is none.
	Lease string `json:"lease"`
	// Acts names the finalizer that it takes off where objects are foretold, as long
	// as its pod is there.
	Acts string `json:"acts"`
}

// manifests are the operator's objects.
func (o *operator) manifests(s *situation) []body {
	in := o.In
	var all []body
	if in == "" {
		in = s.Name + "-system"
		all = append(all, body{"apiVersion": "v1", "kind": "Namespace", "metadata": body{"name": in}})
	}
	meta := func() body { return body{"name": o.Name, "namespace": in} }
	all = append(all, body{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta()})
	all = append(all, o.rights(s, in)...)
	labels := body{"app": o.Name}
	spec := body{"serviceAccountName": o.Name, "containers": []any{body{"name": "manager", "image": "example.com/" + o.Name + ":v1"}}}
	if n, ok := o.Replicas.(float64); ok {
		all = append(all, body{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta(),
			"spec": body{"replicas": n, "selector": body{"matchLabels": labels}, "template": body{"metadata": body{"labels": labels}, "spec": spec}},
		})
	}
	if o.Pod != "" && o.Pod != "none" {
		all = append(all, o.pod(in, labels, spec))
	}
	if o.Lease != "" {
		all = append(all, lease(in, o.Name, o.Name+"-0", o.Lease))
	}
	return all
}

// rights are a role for the kinds that the situation defines, and its binding.
func (o *operator) rights(s *situation, in string) []body {
	verbs := []string{"get", "list", "watch", "update", "patch"}
	if o.Verbs != nil {
		verbs = *o.Verbs
	}
	if len(verbs) == 0 {
		return nil
	}
	var rules []any
	for i := range s.Made {
		if plural, group, ok := strings.Cut(s.Made[i].Define, "."); ok {
			rules = append(rules, body{"apiGroups": []any{group}, "resources": []any{plural, plural + "/finalizers"}, "verbs": verbs})
		}
	}
	name := s.Name + "-" + o.Name
	return []body{
		{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": body{"name": name},
			"rules": rules},
		{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": body{"name": name},
			"roleRef":  body{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
			"subjects": []any{body{"kind": "ServiceAccount", "namespace": in, "name": o.Name}}},
	}
}

// pod is the operator's pod, as a kubelet would describe it.
func (o *operator) pod(in string, labels, spec body) body {
	placed := body{"nodeName": "worker", "terminationGracePeriodSeconds": 1}
	status := body{"phase": "Running", "conditions": []any{body{"type": "Ready", "status": "True"}}}
	switch o.Pod {
	case "Crashing":
		status = body{
			"phase": "Running", "conditions": []any{body{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}},
			"containerStatuses": []any{body{"name": "manager", "image": "i", "imageID": "", "ready": false, "restartCount": 40,
				"state": body{"waiting": body{"reason": "CrashLoopBackOff"}}}},
		}
	case "Pending":
		placed = body{"terminationGracePeriodSeconds": 1}
		status = body{"phase": "Pending", "conditions": []any{body{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}}}
	}
	maps.Copy(placed, spec)
	return body{
		"apiVersion": "v1", "kind": "Pod", "metadata": body{"name": o.Name + "-0", "namespace": in, "labels": labels},
		"spec": placed, "status": status,
	}
}

func lease(in, name, holder, renewed string) body {
	return body{
		"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": body{"name": name, "namespace": in},
		"spec": body{"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed},
	}
}

// webhook is a validating webhook for the situation's namespace, whose service has no
// endpoints, and which must not be left out.
type webhook struct {
	Name       string   `json:"name"`
	Operations []string `json:"operations"`
	Group      string   `json:"group"`
	Resources  []string `json:"resources"`
	Service    string   `json:"service"`
}

func (w *webhook) manifests(s *situation) []body {
	return []body{
		{"apiVersion": "v1", "kind": "Service", "metadata": body{"name": w.Name, "namespace": "default"}, "spec": body{"ports": []any{body{"port": 443}}}},
		{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": body{"name": w.Name}, "webhooks": []any{body{
			"name": "guard." + s.Name + ".example.com", "admissionReviewVersions": []any{"v1"}, "sideEffects": "None", "failurePolicy": "Fail", "timeoutSeconds": 2,
			"namespaceSelector": body{"matchLabels": body{"kubernetes.io/metadata.name": s.Name}},
			"clientConfig":      body{"service": body{"namespace": "default", "name": w.Name}},
			"rules":             []any{body{"apiGroups": []any{w.Group}, "apiVersions": []any{"v1"}, "operations": w.Operations, "resources": w.Resources}},
		}}},
	}
}

// reader is a user who may read some kinds in the namespace of the situation, and no
// more.
type reader struct {
	User      string   `json:"user"`
	Resources []string `json:"resources"`
}

func (r *reader) manifests() []body {
	var rules []any
	for _, kind := range r.Resources {
		resource, group, _ := strings.Cut(kind, ".")
		rules = append(rules, body{"apiGroups": []any{group}, "resources": []any{resource}, "verbs": []any{"get", "list"}})
	}
	return []body{
		{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": body{"name": "reader-" + r.User}, "rules": rules},
		{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": body{"name": "reader-" + r.User},
			"roleRef":  body{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader-" + r.User},
			"subjects": []any{body{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": r.User}}},
	}
}

// pod is a pod of the situation.
type pod struct {
	Name  string `json:"name"`
	Claim string `json:"claim"`
	Phase string `json:"phase"`
	// Node is where it runs, by default the one that is well; none for nowhere.
	Node  string `json:"node"`
	Grace int    `json:"grace"`
}

func (p *pod) manifest() body {
	spec := body{"containers": []any{body{"name": "c", "image": "i"}}}
	switch p.Node {
	case "":
		spec["nodeName"] = "worker"
	case "none":
	default:
		spec["nodeName"] = p.Node
	}
	if p.Grace > 0 {
		spec["terminationGracePeriodSeconds"] = p.Grace
	}
	if p.Claim != "" {
		spec["volumes"] = []any{body{"name": "v", "persistentVolumeClaim": body{"claimName": p.Claim}}}
	}
	return body{"apiVersion": "v1", "kind": "Pod", "metadata": body{"name": p.Name}, "spec": spec, "status": body{"phase": p.Phase}}
}

// node is a machine.
type node struct {
	Name  string `json:"name"`
	Ready string `json:"ready"`
}

func (n *node) manifest() body {
	reason := "KubeletReady"
	if n.Ready != "True" {
		reason = "NodeStatusUnknown"
	}
	return body{
		"apiVersion": "v1", "kind": "Node", "metadata": body{"name": n.Name},
		"status": body{"conditions": []any{body{"type": "Ready", "status": n.Ready, "reason": reason, "message": "Kubelet stopped posting node status."}}},
	}
}

// claim is a claim of the situation.
func claim(name, volume string, finalizers []string) body {
	spec := body{"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "", "resources": body{"requests": body{"storage": "1Gi"}}}
	if volume != "" {
		spec["volumeName"] = volume
	}
	return body{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": body{"name": name, "finalizers": finalizers}, "spec": spec}
}
