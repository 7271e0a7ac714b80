package evidence

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ofManager are the finalizers that kube-controller-manager removes.
// (spec §7.1)
var ofManager = map[string]bool{
	"kubernetes.io/pvc-protection":             true,
	"kubernetes.io/pv-protection":              true,
	"kubernetes.io/vac-protection":             true,
	"kubernetes.io/pv-controller":              true,
	"batch.kubernetes.io/job-tracking":         true,
	"resource.kubernetes.io/delete-protection": true,
	"networking.k8s.io/service-cidr-finalizer": true,
	"scheduling.k8s.io/podgroup-protection":    true,
	"kubernetes":                               true,
}

// OfManager reports whether kube-controller-manager removes a finalizer.
func OfManager(name string) bool { return ofManager[name] }

// isHosted reports whether a finalizer belongs to a controller that cloud providers run outside
// their customers' view, so that no pod shows it.
func isHosted(name string) bool {
	return slices.ContainsFunc([]string{
		"service.kubernetes.io/", "external-attacher/", "external-provisioner.volume.kubernetes.io/", "snapshot.storage.kubernetes.io/",
		"networking.k8s.aws/", "vpcresources.k8s.aws/",
		"karpenter.sh/", "karpenter.k8s.aws/", "eks.amazonaws.com/",
		"networking.gke.io/", "gke.networking.io/", "cloud.google.com/", "kubernetes.azure.com/",
	}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// appliers are controllers that apply manifests written by people. A finalizer that one of them
// wrote may be a person's.
var appliers = []string{
	"kustomize-controller", "helm-controller", "kapp-controller", "argocd-controller", "argocd-application-controller", "fleetagent", "fleet-agent",
	"configsync", "olm", "addon-manager", "work-agent", "klusterlet-agent",
}

// controllerWords are suffixes of controllers' names that no tool has.
var controllerWords = []string{"-controller", "-operator", "-manager", "controller-manager"}

// isEmbedded reports whether a finalizer belongs to a controller that runs in the server process of
// a Kubernetes distribution, where no pod shows it.
func isEmbedded(name string) bool {
	return strings.HasPrefix(name, "svccontroller.k3s.cattle.io/") || strings.HasPrefix(name, "wrangler.cattle.io/")
}

// isTool reports whether a writer is a tool that people, or controllers that apply their manifests,
// use to write objects. Such a writer does not tell which controller removes the finalizer.
func isTool(writer string) bool {
	lower := strings.ToLower(writer)
	switch {
	case writer == "" || slices.Contains(appliers, lower):
		return true
	case slices.ContainsFunc(controllerWords, func(word string) bool { return strings.HasSuffix(lower, word) }):
		return false
	}
	return slices.ContainsFunc([]string{
		"kubectl", "oc", "helm", "k9s", "lens", "freelens", "mozilla", "curl", "terraform", "pulumi", "kapp", "kustomize", "argocd", "flux",
		"before-first-apply", "unknown", "ansible", "openapi-generator", "python", "go-http-client", "node-fetch", "okhttp",
	}, func(name string) bool {
		rest, ok := strings.CutPrefix(lower, name)
		return ok && (rest == "" || !letter(rest[0]))
	})
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' }

// isCommon reports whether the name is so generic that many unrelated programs have it.
func isCommon(program string) bool {
	return slices.Contains([]string{"manager", "controller", "operator", "main", "server", "app", "controller-manager", "java", "node", "bash", "sh"},
		strings.ToLower(program))
}

// stampText returns " at <time>", or "" for the unknown time 0.
func stampText(seconds int64) string {
	if seconds == 0 {
		return ""
	}
	return " at " + metav1.Unix(seconds, 0).UTC().Format("2006-01-02T15:04:05Z")
}
