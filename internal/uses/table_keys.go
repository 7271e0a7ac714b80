package uses

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// The kinds that only annotations name.
var (
	kongPlugin         = kindOf("configuration.konghq.com", "v1", "KongPlugin", "kongplugins", true)
	managedCertificate = kindOf("networking.gke.io", "v1", "ManagedCertificate", "managedcertificates", true)
	networkAttachment  = kindOf("k8s.cni.cncf.io", "v1", "NetworkAttachmentDefinition", "network-attachment-definitions", true)
)

const hostname = "kubernetes.io/hostname"

func label(key string) string { return "metadata.labels['" + key + "']" }

func annotation(key string) string { return "metadata.annotations['" + key + "']" }

// keyRules returns the rules for annotations, labels of nodes, and parameters of classes, whose keys have dots.
//
// Source: kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations: auth-secret, auth-tls-secret,
// proxy-ssl-secret, default-backend.
// Source: cert-manager.io/docs/usage/ingress, /usage/gateway.
// Source: doc.traefik.io/traefik/reference/routing-configuration/kubernetes/ingress: router.middlewares.
// Source: developer.konghq.com/kubernetes-ingress-controller/reference/annotations: konghq.com/plugins.
// Source: cloud.google.com/kubernetes-engine/docs/how-to/managed-certs.
// Source: kubernetes-csi.github.io/docs/secrets-and-credentials.html.
// Source: kubernetes.io/docs/concepts/storage/persistent-volumes: Node Affinity.
func keyRules() []Rule {
	const nginx = "nginx.ingress.kubernetes.io/"
	list := []Rule{
		{User: Ingress, Path: annotation(nginx + "auth-secret"), To: secret, Elsewhere: true, Label: "auth-secret", Effect: "its requests are refused"},
		{User: Ingress, Path: annotation(nginx + "auth-tls-secret"), To: secret, Elsewhere: true, Label: "auth-tls-secret", Effect: "its requests are refused"},
		{User: Ingress, Path: annotation(nginx + "proxy-ssl-secret"), To: secret, Elsewhere: true, Label: "proxy-ssl-secret", Effect: "its backends are not reached with that certificate"},
		{User: Ingress, Path: annotation(nginx + "default-backend"), To: service, Label: "default-backend", Effect: "no default backend"},
		{User: Ingress, Path: annotation("traefik.ingress.kubernetes.io/router.middlewares"), To: traefikMiddleware, Several: traefikNames, Label: "middlewares", Effect: "the route is not served"},
		{User: Ingress, Path: annotation("networking.gke.io/managed-certificates"), To: managedCertificate, Several: commaNames, Label: "managed-certificates", Effect: "no TLS certificate"},
		{User: object.PV, Path: "spec.nodeAffinity.required.nodeSelectorTerms[].matchExpressions[]", To: object.Node, Several: onlyHost, Label: "nodeAffinity", When: report.BreaksNextStart, Effect: "it can be mounted on no other node"},
	}
	for _, k := range []object.Kind{Ingress, gateway} {
		list = append(
			list,
			Rule{User: k, Path: annotation("cert-manager.io/cluster-issuer"), To: clusterIssuer, Label: "cluster-issuer", Effect: "its certificate is not renewed"},
			Rule{User: k, Path: annotation("cert-manager.io/issuer"), To: issuer, Label: "issuer", Effect: "its certificate is not renewed"},
		)
	}
	for _, k := range []object.Kind{Ingress, service} {
		list = append(list, Rule{User: k, Path: annotation("konghq.com/plugins"), To: kongPlugin, Several: commaNames, Label: "plugins", Effect: "the plugin is not applied"})
	}
	list = append(list, templateKeyRules()...)
	for i := range list {
		list[i].Inexact = true
	}
	const parameter = "parameters['csi.storage.k8s.io/"
	list = append(
		list,
		Rule{User: SnapshotClass, Path: parameter + "snapshotter-secret-name']", In: parameter + "snapshotter-secret-namespace']", To: secret, Label: "snapshotter-secret", Effect: "no snapshots are taken"},
		Rule{User: snapshotContent, Path: annotation("snapshot.storage.kubernetes.io/deletion-secret-name"), In: annotation("snapshot.storage.kubernetes.io/deletion-secret-namespace"), To: secret, Label: "deletion-secret", Effect: "its snapshot cannot be deleted"},
		Rule{User: object.PV, Path: annotation("volume.kubernetes.io/provisioner-deletion-secret-name"), In: annotation("volume.kubernetes.io/provisioner-deletion-secret-namespace"), To: secret, Label: "provisioner-deletion-secret", Effect: "its storage cannot be deleted"},
	)
	for _, s := range classSecrets {
		list = append(list, Rule{User: object.StorageClass, Path: parameter + s.name + "-name']", In: parameter + s.name + "-namespace']", To: secret, Label: s.name, Effect: s.effect})
	}
	for i := range list {
		list[i].When = cmp.Or(list[i].When, report.BreaksNextReconcile)
	}
	return list
}

// classSecrets are the Secrets that a StorageClass names, and what happens without them. A volume that exists
// names its own.
var classSecrets = []struct{ name, effect string }{
	{"provisioner-secret", "no volumes are provisioned"},
	{"controller-publish-secret", "new volumes cannot be attached"},
	{"node-stage-secret", "new volumes cannot be mounted"},
	{"node-publish-secret", "new volumes cannot be mounted"},
	{"controller-expand-secret", "new volumes cannot be resized"},
	{"node-expand-secret", "new volumes cannot be resized"},
}

// templateKeyRules returns the rules for annotations and node selectors of pods and their templates.
//
// Source: k8snetworkplumbingwg, multi-net-spec: k8s.v1.cni.cncf.io/networks.
// Source: developer.hashicorp.com/vault/docs/deploy/kubernetes/injector/annotations: tls-secret is mounted.
func templateKeyRules() []Rule {
	var list []Rule
	for _, t := range podTemplates {
		path := strings.TrimSuffix(t.path, "spec.")
		list = append(
			list,
			Rule{User: t.kind, Path: path + annotation("k8s.v1.cni.cncf.io/networks"), To: networkAttachment, Elsewhere: true, Several: networkNames, Label: "networks", When: report.BreaksNextStart, Effect: newPodsWait},
			Rule{User: t.kind, Path: path + annotation("vault.hashicorp.com/tls-secret"), To: secret, Label: "tls-secret", When: report.BreaksNextStart, Effect: newPodsWait},
		)
		if t.kind.GroupKind != object.Pod.GroupKind {
			list = append(list, Rule{User: t.kind, Path: t.path + "nodeSelector['" + hostname + "']", To: object.Node, Label: "nodeSelector", When: report.BreaksNextStart, Effect: "its pods start on no other node"})
		}
	}
	return list
}

// commaNames returns the names of a list with commas.
func commaNames(_ string, value any) (names []string) {
	list, _ := value.(string)
	for name := range strings.SplitSeq(list, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// traefikNames returns the objects of a list such as shop-strip@kubernetescrd. Namespace and name are joined with a
// hyphen, which both may have: only those in the namespace of the user are certain.
func traefikNames(own string, value any) (names []string) {
	for _, name := range commaNames(own, value) {
		if joined, ok := strings.CutSuffix(name, "@kubernetescrd"); ok {
			if name, ok = strings.CutPrefix(joined, own+"-"); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// networkNames returns the networks of a list such as macvlan,infra/sriov@eth1, or of one in JSON.
func networkNames(own string, value any) (names []string) {
	if text, _ := value.(string); strings.HasPrefix(strings.TrimSpace(text), "[") {
		var list []struct{ Namespace, Name string }
		if json.Unmarshal([]byte(text), &list) != nil {
			return nil
		}
		for _, n := range list {
			names = append(names, strings.TrimPrefix(n.Namespace+"/"+n.Name, "/"))
		}
		return names
	}
	for _, name := range commaNames(own, value) {
		name, _, _ = strings.Cut(name, "@")
		names = append(names, name)
	}
	return names
}

// onlyHost returns the node of an expression that allows one hostname. It is that of the node of that name,
// unless the kubelet was told otherwise.
func onlyHost(_ string, value any) []string {
	m, _ := value.(map[string]any)
	if list, _ := m["values"].([]any); m["key"] == hostname && m["operator"] == "In" && len(list) == 1 {
		name, _ := list[0].(string)
		return []string{name}
	}
	return nil
}
