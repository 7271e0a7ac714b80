package uses

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const (
	gatewayAPI  = "gateway.networking.k8s.io"
	certManager = "cert-manager.io"
	externals   = "external-secrets.io"
	keda        = "keda.sh"
	istio       = "networking.istio.io"
	argo        = "argoproj.io"
	monitoring  = "monitoring.coreos.com"
	serving     = "serving.knative.dev"
	fluxSources = "source.toolkit.fluxcd.io"
)

// The kinds of other projects.
var (
	gateway            = kindOf(gatewayAPI, "v1", "Gateway", "gateways", true)
	gatewayClass       = kindOf(gatewayAPI, "v1", "GatewayClass", "gatewayclasses", false)
	issuer             = kindOf(certManager, "v1", "Issuer", "issuers", true)
	clusterIssuer      = kindOf(certManager, "v1", "ClusterIssuer", "clusterissuers", false)
	certificate        = kindOf(certManager, "v1", "Certificate", "certificates", true)
	secretStore        = kindOf(externals, "v1", "SecretStore", "secretstores", true)
	clusterSecretStore = kindOf(externals, "v1", "ClusterSecretStore", "clustersecretstores", false)
	externalSecret     = kindOf(externals, "v1", "ExternalSecret", "externalsecrets", true)
	scaledObject       = kindOf(keda, "v1alpha1", "ScaledObject", "scaledobjects", true)
	triggerAuth        = kindOf(keda, "v1alpha1", "TriggerAuthentication", "triggerauthentications", true)
	clusterTriggerAuth = kindOf(keda, "v1alpha1", "ClusterTriggerAuthentication", "clustertriggerauthentications", false)
	istioGateway       = kindOf(istio, "v1", "Gateway", "gateways", true)
	podAutoscaler      = kindOf("autoscaling.k8s.io", "v1", "VerticalPodAutoscaler", "verticalpodautoscalers", true)
	virtualService     = kindOf(istio, "v1", "VirtualService", "virtualservices", true)
	destinationRule    = kindOf(istio, "v1", "DestinationRule", "destinationrules", true)
	rollout            = kindOf(argo, "v1alpha1", "Rollout", "rollouts", true)
	analysis           = kindOf(argo, "v1alpha1", "AnalysisTemplate", "analysistemplates", true)
	clusterAnalysis    = kindOf(argo, "v1alpha1", "ClusterAnalysisTemplate", "clusteranalysistemplates", false)
	serviceMonitor     = kindOf(monitoring, "v1", "ServiceMonitor", "servicemonitors", true)
	podMonitor         = kindOf(monitoring, "v1", "PodMonitor", "podmonitors", true)
	prometheus         = kindOf(monitoring, "v1", "Prometheus", "prometheuses", true)
	alertmanager       = kindOf(monitoring, "v1", "Alertmanager", "alertmanagers", true)
	knativeService     = kindOf(serving, "v1", "Service", "services", true)
	kustomization      = object.FluxKustomization
	helmRelease        = object.FluxHelmRelease
	gitRepository      = kindOf(fluxSources, "v1", "GitRepository", "gitrepositories", true)
	ociRepository      = kindOf(fluxSources, "v1", "OCIRepository", "ocirepositories", true)
	helmRepository     = kindOf(fluxSources, "v1", "HelmRepository", "helmrepositories", true)
	helmChart          = kindOf(fluxSources, "v1", "HelmChart", "helmcharts", true)
	bucket             = kindOf(fluxSources, "v1", "Bucket", "buckets", true)
	// ReferenceGrant is the kind of permissions to refer to another namespace.
	ReferenceGrant = kindOf(gatewayAPI, "v1beta1", "ReferenceGrant", "referencegrants", true)
	gatewayRoutes  = []object.Kind{
		kindOf(gatewayAPI, "v1", "HTTPRoute", "httproutes", true),
		kindOf(gatewayAPI, "v1", "GRPCRoute", "grpcroutes", true),
		kindOf(gatewayAPI, "v1alpha2", "TLSRoute", "tlsroutes", true),
		kindOf(gatewayAPI, "v1alpha2", "TCPRoute", "tcproutes", true),
		kindOf(gatewayAPI, "v1alpha2", "UDPRoute", "udproutes", true),
	}
	customKinds = slices.Concat(gatewayRoutes, []object.Kind{
		gateway, gatewayClass, ReferenceGrant, issuer, clusterIssuer, certificate, secretStore, clusterSecretStore, externalSecret, scaledObject, triggerAuth,
		clusterTriggerAuth, istioGateway, podAutoscaler, virtualService, destinationRule, rollout, analysis, clusterAnalysis, serviceMonitor, podMonitor, prometheus, alertmanager, knativeService,
		kustomization, helmRelease, gitRepository, ociRepository, helmRepository, helmChart, bucket,
	})
)

// customRules returns the rules for kinds of other projects, as their API documents the fields.
//
// Source: gateway-api.sigs.k8s.io/reference/spec: ParentReference, BackendRef, SecretObjectReference, ReferenceGrant.
// Source: cert-manager.io/docs/reference/api-docs: ObjectReference (kind is Issuer by default).
// Source: external-secrets.io/latest/api/externalsecret: secretStoreRef (kind is SecretStore by default).
// Source: keda.sh/docs/latest/reference/scaledobject-spec: scaleTargetRef (kind is Deployment by default).
// Source: istio.io/latest/docs/reference/config/networking: Destination.host: a short name is one of the
// namespace of the rule; VirtualService.gateways: NAME or NAMESPACE/NAME.
// Source: kubernetes.io/docs/concepts/workloads/autoscaling/vertical-pod-autoscale: targetRef.
// Source: argo-rollouts.readthedocs.io/en/stable/features/specification, /features/analysis (clusterScope).
// Source: prometheus-operator.dev/docs/api-reference/api.
// Source: knative.dev/docs/serving/reference/serving-api.
// Source: fluxcd.io/flux/components: kustomizations, helmreleases, and the sources.
func customRules() []Rule {
	list := []Rule{
		{User: gateway, Path: "spec.gatewayClassName", To: gatewayClass, Label: "gatewayClassName", Effect: "no controller serves it"},
		{User: gateway, Path: "spec.listeners[].tls.certificateRefs[]", Name: "name", To: secret, Or: []object.Kind{}, Granted: true, Label: "certificateRefs", Effect: "no TLS certificate"},
		{User: gateway, Path: "spec.infrastructure.parametersRef", Name: "name", To: configMap, Or: []object.Kind{}, Any: true, Label: "parametersRef", Effect: "its parameters are missing"},
		{User: gatewayClass, Path: "spec.parametersRef", Name: "name", To: configMap, Or: []object.Kind{}, Any: true, Label: "parametersRef", Effect: "its parameters are missing"},
		{User: certificate, Path: "spec.issuerRef", Name: "name", To: issuer, Or: []object.Kind{clusterIssuer}, Any: true, Label: "issuerRef", Effect: "it is not renewed"},
		{User: issuer, Path: "spec.ca.secretName", To: secret, Label: "ca", Effect: "it issues no certificates"},
		{User: issuer, Path: "spec.acme.privateKeySecretRef", Name: "name", To: secret, Created: true, Label: "privateKeySecretRef", Effect: "it registers a new account"},
		{User: externalSecret, Path: "spec.secretStoreRef", Name: "name", To: secretStore, Or: []object.Kind{clusterSecretStore}, Label: "secretStoreRef", Effect: "its Secret is not refreshed"},
		{User: externalSecret, Path: "spec.dataFrom[].sourceRef.storeRef", Name: "name", To: secretStore, Or: []object.Kind{clusterSecretStore}, Label: "storeRef", Effect: "its Secret is not refreshed"},
		{User: externalSecret, Path: "spec.data[].sourceRef.storeRef", Name: "name", To: secretStore, Or: []object.Kind{clusterSecretStore}, Label: "storeRef", Effect: "its Secret is not refreshed"},
		{User: podAutoscaler, Path: "spec.targetRef", Name: "name", To: object.Deployment, Or: []object.Kind{object.StatefulSet, object.DaemonSet, object.ReplicaSet}, Label: "targetRef", Effect: "it has nothing to scale"},
		{User: scaledObject, Path: "spec.scaleTargetRef", Name: "name", To: object.Deployment, Or: []object.Kind{object.StatefulSet, object.ReplicaSet, rollout}, Label: "scaleTargetRef", Effect: "it has nothing to scale"},
		{User: scaledObject, Path: "spec.triggers[].authenticationRef", Name: "name", To: triggerAuth, Or: []object.Kind{clusterTriggerAuth}, Label: "authenticationRef", Effect: "its trigger fails"},
		{User: triggerAuth, Path: "spec.secretTargetRef[]", Name: "name", To: secret, Label: "secretTargetRef", Effect: "triggers that use it fail"},
		{User: destinationRule, Path: "spec.host", To: service, Host: true, Label: "host", Effect: "it applies to nothing"},
		{User: rollout, Path: "spec.workloadRef", Name: "name", To: object.Deployment, Or: []object.Kind{}, Label: "workloadRef", Effect: "it has no pod template"},
		{User: rollout, Path: "spec.strategy.canary.stableService", To: service, Label: "stableService", Effect: "rollouts fail"},
		{User: rollout, Path: "spec.strategy.canary.canaryService", To: service, Label: "canaryService", Effect: "rollouts fail"},
		{User: rollout, Path: "spec.strategy.blueGreen.activeService", To: service, Label: "activeService", Effect: "rollouts fail"},
		{User: rollout, Path: "spec.strategy.blueGreen.previewService", To: service, Label: "previewService", Effect: "rollouts fail"},
		{User: prometheus, Path: "spec.serviceAccountName", To: object.ServiceAccount, Label: "serviceAccountName", Effect: newPodsRefused},
		{User: prometheus, Path: "spec.additionalScrapeConfigs", Name: "name", To: secret, Label: "additionalScrapeConfigs", Effect: "its configuration is not made"},
		{User: alertmanager, Path: "spec.configSecret", To: secret, Label: "configSecret", Effect: "it has no routes"},
		{User: serviceMonitor, Path: "spec.endpoints[].basicAuth.username", Name: "name", To: secret, Label: "basicAuth", Effect: "it is not scraped"},
		{User: serviceMonitor, Path: "spec.endpoints[].basicAuth.password", Name: "name", To: secret, Label: "basicAuth", Effect: "it is not scraped"},
		{User: serviceMonitor, Path: "spec.endpoints[].bearerTokenSecret", Name: "name", To: secret, Label: "bearerTokenSecret", Effect: "it is not scraped"},
		{User: podMonitor, Path: "spec.podMetricsEndpoints[].bearerTokenSecret", Name: "name", To: secret, Label: "bearerTokenSecret", Effect: "it is not scraped"},
	}
	for _, k := range []object.Kind{kustomization, helmRelease} {
		list = append(
			list,
			Rule{User: k, Path: "spec.dependsOn[]", Name: "name", To: k, Label: "dependsOn", Effect: "it waits for it"},
			Rule{User: k, Path: "spec.kubeConfig.secretRef", Name: "name", To: secret, Label: "kubeConfig", Effect: "it does not reach its cluster"},
			Rule{User: k, Path: "spec.serviceAccountName", To: object.ServiceAccount, Label: "serviceAccountName", Effect: "it is not updated, and its own delete leaves what it has applied"},
		)
	}
	list = append(
		list,
		Rule{User: kustomization, Path: "spec.sourceRef", Name: "name", To: gitRepository, Or: []object.Kind{ociRepository, bucket}, Label: "sourceRef", Effect: "it is not updated"},
		Rule{User: kustomization, Path: "spec.decryption.secretRef", Name: "name", To: secret, Label: "decryption", Effect: "it is not updated"},
		Rule{User: kustomization, Path: "spec.postBuild.substituteFrom[]", Name: "name", To: configMap, Or: []object.Kind{secret}, Label: "substituteFrom", Effect: "it is not updated"},
		Rule{User: helmRelease, Path: "spec.chart.spec.sourceRef", Name: "name", To: helmRepository, Or: []object.Kind{gitRepository, bucket}, Label: "sourceRef", Effect: "it is not updated"},
		Rule{User: helmRelease, Path: "spec.chartRef", Name: "name", To: ociRepository, Or: []object.Kind{helmChart}, Label: "chartRef", Effect: "it is not updated"},
		Rule{User: helmRelease, Path: "spec.valuesFrom[]", Name: "name", To: configMap, Or: []object.Kind{secret}, Label: "valuesFrom", Effect: "it is not updated"},
	)
	for _, k := range []object.Kind{gitRepository, ociRepository, helmRepository, bucket} {
		list = append(
			list,
			Rule{User: k, Path: "spec.secretRef", Name: "name", To: secret, Label: "secretRef", Effect: "it is not fetched"},
			Rule{User: k, Path: "spec.certSecretRef", Name: "name", To: secret, Label: "certSecretRef", Effect: "it is not fetched"},
		)
	}
	for _, route := range gatewayRoutes {
		list = append(
			list,
			Rule{User: route, Path: "spec.parentRefs[]", Name: "name", To: gateway, Or: []object.Kind{service}, Label: "parentRefs", Effect: "it is attached to nothing"},
			Rule{User: route, Path: "spec.rules[].backendRefs[]", Name: "name", To: service, Or: []object.Kind{}, Granted: true, Label: "backendRefs", Backend: true, Effect: "no backend"},
		)
	}
	for _, route := range gatewayRoutes[:2] {
		list = append(list, Rule{User: route, Path: "spec.rules[].filters[].requestMirror.backendRef", Name: "name", To: service, Or: []object.Kind{}, Granted: true, Label: "requestMirror", Effect: "requests are not mirrored"})
	}
	for _, in := range []string{
		"canary.analysis.templates[]", "canary.steps[].analysis.templates[]", "canary.steps[].experiment.analyses[]",
		"blueGreen.prePromotionAnalysis.templates[]", "blueGreen.postPromotionAnalysis.templates[]",
	} {
		list = append(list, Rule{User: rollout, Path: "spec.strategy." + in, Name: "templateName", To: analysis, Or: []object.Kind{clusterAnalysis}, Label: "analysis", Effect: "rollouts fail"})
	}
	list = append(
		list,
		Rule{User: virtualService, Path: "spec.gateways[]", To: istioGateway, Reserved: "mesh", Label: "gateways", Effect: "it is attached to nothing"},
		Rule{User: virtualService, Path: "spec.http[].mirror.host", To: service, Host: true, Label: "mirror", Effect: "requests are not mirrored"},
	)
	for _, protocol := range []string{"http", "tcp", "tls"} {
		list = append(list, Rule{User: virtualService, Path: "spec." + protocol + "[].route[].destination.host", To: service, Host: true, Label: "destination", Backend: true, Effect: "no backend"})
	}
	for i := range list {
		list[i].When = report.BreaksNextReconcile
	}
	return append(
		list,
		Rule{User: ReferenceGrant, Path: "spec.from[]", Name: "name", To: gateway, Or: gatewayRoutes, SelectsAll: true, Label: "from", When: report.BreaksNever},
		Rule{User: ReferenceGrant, Path: "spec.to[]", Name: "name", To: service, Or: []object.Kind{secret}, SelectsAll: true, Label: "to", When: report.BreaksNever},
	)
}
