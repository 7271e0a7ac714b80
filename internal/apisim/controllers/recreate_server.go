package controllers

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// autoManaged is the label of the APIServices that API servers register.
const autoManaged = "kube-aggregator.kubernetes.io/automanaged"

const (
	serverName   = "kube-apiserver"
	serverRuns   = "kube-apiserver runs"
	serverStarts = "kube-apiserver is started again"
)

// keptByServer are the objects that an API server creates whenever they are missing, by kind and
// name. Only the Service is namespaced.
//
// Upstream: pkg/controlplane/controller/systemnamespaces/system_namespaces_controller.go Controller.sync.
// Upstream: pkg/controlplane/controller/kubernetesservice/controller.go CreateOrUpdateMasterServiceIfNeeded.
// Upstream: pkg/controlplane/controller/defaultservicecidr/default_servicecidr_controller.go Controller.sync.
// Upstream: apiserver/pkg/apis/flowcontrol/bootstrap/default.go MandatoryPriorityLevelConfigurations,
// MandatoryFlowSchemas, SuggestedPriorityLevelConfigurations, SuggestedFlowSchemas.
var keptByServer = map[schema.GroupKind][]string{
	object.Namespace.GroupKind:   {"default", "kube-node-lease", "kube-public", "kube-system"},
	object.Service.GroupKind:     {"kubernetes"},
	object.ServiceCIDR.GroupKind: {"kubernetes"},
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}: {
		"catch-all", "exempt", "global-default", "leader-election", "node-high", "system", "workload-high", "workload-low",
	},
	flowSchema: {
		"catch-all", "exempt", "global-default", "kube-controller-manager", "kube-scheduler", "kube-system-service-accounts",
		"probes", "service-accounts", "system-leader-election", "system-node-high", "system-nodes",
	},
}

var flowSchema = schema.GroupKind{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}

// onceKeptFlowSchemas are those that only API servers of older releases create.
var onceKeptFlowSchemas = []string{"endpoint-controller", "workload-leader-election"}

// The bundle of serving certificates of the API server, and the controller that publishes it.
//
// Upstream: pkg/controller/certificates/clustertrustbundlepublisher/publisher.go syncClusterTrustBundle.
const (
	servingBundle   = "kubernetes.io:kube-apiserver-serving:"
	bundlePublisher = "kube-apiserver-serving-clustertrustbundle-publisher-controller"
)

// configOfServer are the ConfigMaps in kube-system that an API server creates whenever they are
// missing.
//
// Upstream: pkg/controlplane/controller/clusterauthenticationtrust/cluster_authentication_trust_controller.go syncConfigMap.
// Upstream: pkg/controlplane/controller/legacytokentracking/controller.go syncConfigMap.
var configOfServer = []string{"extension-apiserver-authentication", "kube-apiserver-legacy-service-account-token-tracking"}

// serverBringsBack handles the objects that API servers maintain, or create at their start.
//
// Upstream: pkg/registry/rbac/rest/storage_rbac.go ensureRBACPolicy.
func serverBringsBack(w Outlook, kind schema.GroupKind, o *object.Object) (Recreation, bool) {
	switch {
	case slices.Contains(keptByServer[kind], o.Name) && (o.Namespace == "" || o.Namespace == "default"):
		return ofServer(serverRuns)
	case kind == flowSchema && slices.Contains(onceKeptFlowSchemas, o.Name) && !w.Rules().Follow(release.FewerFlowSchemas):
		return ofServer(serverRuns)
	case kind.Group == "certificates.k8s.io" && kind.Kind == "ClusterTrustBundle" && strings.HasPrefix(o.Name, servingBundle):
		return Recreation{Controller: bundlePublisher, Assumption: "the controller runs"}, true
	case kind.Group == "rbac.authorization.k8s.io" && o.Labels.Get("kubernetes.io/bootstrapping") == "rbac-defaults":
		return ofServer(serverStarts)
	case kind == object.APIService.GroupKind:
		return apiServiceComesBack(w, o)
	}
	return Recreation{}, false
}

// apiServiceComesBack handles the APIServices that API servers register: those of custom resources
// while a definition serves the version, their own ones at their start. APIServices of other origin
// lack the label.
//
// Upstream: kube-aggregator/pkg/controllers/autoregister/autoregister_controller.go checkAPIService.
func apiServiceComesBack(w Outlook, o *object.Object) (Recreation, bool) {
	version, group, _ := strings.Cut(o.Name, ".")
	switch o.Labels.Get(autoManaged) {
	case "onstart":
		return ofServer(serverStarts)
	case "true":
		if definition := w.Definition(group + "/" + version); definition.Name != "" {
			return Recreation{Controller: serverName, For: definition, Assumption: serverRuns}, true
		}
	}
	return Recreation{}, false
}

func ofServer(assumption string) (Recreation, bool) {
	return Recreation{Controller: serverName, Assumption: assumption}, true
}
