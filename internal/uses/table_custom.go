package uses

import (
	"cmp"
	"slices"
	"strings"

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
	traefik     = "traefik.io"
	contour     = "projectcontour.io"
	velero      = "velero.io"
	kueue       = "kueue.x-k8s.io"
	metalLB     = "metallb.io"
	kubeVirt    = "kubevirt.io"
	karpenter   = "karpenter.sh"
	eventing    = "eventing.knative.dev"
	tekton      = "tekton.dev"
	triggers    = "triggers.tekton.dev"
	strimzi     = "kafka.strimzi.io"
	postgres    = "postgresql.cnpg.io"
	fluxNotices = "notification.toolkit.fluxcd.io"
	fluxImages  = "image.toolkit.fluxcd.io"
	olm         = "operators.coreos.com"
)

// The kinds of other projects.
var (
	gateway               = kindOf(gatewayAPI, "v1", "Gateway", "gateways", true)
	gatewayClass          = kindOf(gatewayAPI, "v1", "GatewayClass", "gatewayclasses", false)
	issuer                = kindOf(certManager, "v1", "Issuer", "issuers", true)
	clusterIssuer         = kindOf(certManager, "v1", "ClusterIssuer", "clusterissuers", false)
	certificate           = kindOf(certManager, "v1", "Certificate", "certificates", true)
	secretStore           = kindOf(externals, "v1", "SecretStore", "secretstores", true)
	clusterSecretStore    = kindOf(externals, "v1", "ClusterSecretStore", "clustersecretstores", false)
	externalSecret        = kindOf(externals, "v1", "ExternalSecret", "externalsecrets", true)
	scaledObject          = kindOf(keda, "v1alpha1", "ScaledObject", "scaledobjects", true)
	triggerAuth           = kindOf(keda, "v1alpha1", "TriggerAuthentication", "triggerauthentications", true)
	clusterTriggerAuth    = kindOf(keda, "v1alpha1", "ClusterTriggerAuthentication", "clustertriggerauthentications", false)
	istioGateway          = kindOf(istio, "v1", "Gateway", "gateways", true)
	podAutoscaler         = kindOf("autoscaling.k8s.io", "v1", "VerticalPodAutoscaler", "verticalpodautoscalers", true)
	virtualService        = kindOf(istio, "v1", "VirtualService", "virtualservices", true)
	destinationRule       = kindOf(istio, "v1", "DestinationRule", "destinationrules", true)
	rollout               = kindOf(argo, "v1alpha1", "Rollout", "rollouts", true)
	analysis              = kindOf(argo, "v1alpha1", "AnalysisTemplate", "analysistemplates", true)
	clusterAnalysis       = kindOf(argo, "v1alpha1", "ClusterAnalysisTemplate", "clusteranalysistemplates", false)
	serviceMonitor        = kindOf(monitoring, "v1", "ServiceMonitor", "servicemonitors", true)
	podMonitor            = kindOf(monitoring, "v1", "PodMonitor", "podmonitors", true)
	prometheus            = kindOf(monitoring, "v1", "Prometheus", "prometheuses", true)
	alertmanager          = kindOf(monitoring, "v1", "Alertmanager", "alertmanagers", true)
	knativeService        = kindOf(serving, "v1", "Service", "services", true)
	kustomization         = object.FluxKustomization
	helmRelease           = object.FluxHelmRelease
	gitRepository         = kindOf(fluxSources, "v1", "GitRepository", "gitrepositories", true)
	ociRepository         = kindOf(fluxSources, "v1", "OCIRepository", "ocirepositories", true)
	helmRepository        = kindOf(fluxSources, "v1", "HelmRepository", "helmrepositories", true)
	helmChart             = kindOf(fluxSources, "v1", "HelmChart", "helmcharts", true)
	bucket                = kindOf(fluxSources, "v1", "Bucket", "buckets", true)
	appProject            = kindOf(argo, "v1alpha1", "AppProject", "appprojects", true)
	application           = kindOf(argo, "v1alpha1", "Application", "applications", true)
	workflow              = kindOf(argo, "v1alpha1", "Workflow", "workflows", true)
	cronWorkflow          = kindOf(argo, "v1alpha1", "CronWorkflow", "cronworkflows", true)
	workflowTemplate      = kindOf(argo, "v1alpha1", "WorkflowTemplate", "workflowtemplates", true)
	clusterWorkflow       = kindOf(argo, "v1alpha1", "ClusterWorkflowTemplate", "clusterworkflowtemplates", false)
	pushSecret            = kindOf(externals, "v1alpha1", "PushSecret", "pushsecrets", true)
	route                 = kindOf("route.openshift.io", "v1", "Route", "routes", true)
	deploymentConfig      = kindOf("apps.openshift.io", "v1", "DeploymentConfig", "deploymentconfigs", true)
	cloneSet              = kindOf("apps.kruise.io", "v1alpha1", "CloneSet", "clonesets", true)
	jobSet                = kindOf("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets", true)
	workerSet             = kindOf("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets", true)
	rayCluster            = kindOf("ray.io", "v1", "RayCluster", "rayclusters", true)
	sparkApplication      = kindOf("sparkoperator.k8s.io", "v1beta2", "SparkApplication", "sparkapplications", true)
	targetGroupBinding    = kindOf("elbv2.k8s.aws", "v1beta1", "TargetGroupBinding", "targetgroupbindings", true)
	ingressRoute          = kindOf(traefik, "v1alpha1", "IngressRoute", "ingressroutes", true)
	traefikMiddleware     = kindOf(traefik, "v1alpha1", "Middleware", "middlewares", true)
	traefikService        = kindOf(traefik, "v1alpha1", "TraefikService", "traefikservices", true)
	httpProxy             = kindOf(contour, "v1", "HTTPProxy", "httpproxies", true)
	veleroSchedule        = kindOf(velero, "v1", "Schedule", "schedules", true)
	veleroBackup          = kindOf(velero, "v1", "Backup", "backups", true)
	backupLocation        = kindOf(velero, "v1", "BackupStorageLocation", "backupstoragelocations", true)
	localQueue            = kindOf(kueue, "v1beta1", "LocalQueue", "localqueues", true)
	clusterQueue          = kindOf(kueue, "v1beta1", "ClusterQueue", "clusterqueues", false)
	resourceFlavor        = kindOf(kueue, "v1beta1", "ResourceFlavor", "resourceflavors", false)
	addressPool           = kindOf(metalLB, "v1beta1", "IPAddressPool", "ipaddresspools", true)
	bgpAdvertisement      = kindOf(metalLB, "v1beta1", "BGPAdvertisement", "bgpadvertisements", true)
	l2Advertisement       = kindOf(metalLB, "v1beta1", "L2Advertisement", "l2advertisements", true)
	virtualMachine        = kindOf(kubeVirt, "v1", "VirtualMachine", "virtualmachines", true)
	nodePool              = kindOf(karpenter, "v1", "NodePool", "nodepools", false)
	ec2NodeClass          = kindOf("karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses", false)
	broker                = kindOf(eventing, "v1", "Broker", "brokers", true)
	trigger               = kindOf(eventing, "v1", "Trigger", "triggers", true)
	secretProviderClass   = kindOf("secrets-store.csi.x-k8s.io", "v1", "SecretProviderClass", "secretproviderclasses", true)
	tektonTask            = kindOf(tekton, "v1", "Task", "tasks", true)
	tektonPipeline        = kindOf(tekton, "v1", "Pipeline", "pipelines", true)
	eventListener         = kindOf(triggers, "v1beta1", "EventListener", "eventlisteners", true)
	triggerTemplate       = kindOf(triggers, "v1beta1", "TriggerTemplate", "triggertemplates", true)
	triggerBinding        = kindOf(triggers, "v1beta1", "TriggerBinding", "triggerbindings", true)
	clusterTriggerBinding = kindOf(triggers, "v1beta1", "ClusterTriggerBinding", "clustertriggerbindings", false)
	kafka                 = kindOf(strimzi, "v1beta2", "Kafka", "kafkas", true)
	kafkaConnect          = kindOf(strimzi, "v1beta2", "KafkaConnect", "kafkaconnects", true)
	kafkaConnector        = kindOf(strimzi, "v1beta2", "KafkaConnector", "kafkaconnectors", true)
	kafkaTopic            = kindOf(strimzi, "v1beta2", "KafkaTopic", "kafkatopics", true)
	kafkaUser             = kindOf(strimzi, "v1beta2", "KafkaUser", "kafkausers", true)
	kafkaPool             = kindOf(strimzi, "v1beta2", "KafkaNodePool", "kafkanodepools", true)
	postgresCluster       = kindOf(postgres, "v1", "Cluster", "clusters", true)
	postgresSchedule      = kindOf(postgres, "v1", "ScheduledBackup", "scheduledbackups", true)
	postgresPooler        = kindOf(postgres, "v1", "Pooler", "poolers", true)
	eventSource           = kindOf(argo, "v1alpha1", "EventSource", "eventsources", true)
	eventBus              = kindOf(argo, "v1alpha1", "EventBus", "eventbus", true)
	sensor                = kindOf(argo, "v1alpha1", "Sensor", "sensors", true)
	fluxAlert             = kindOf(fluxNotices, "v1beta3", "Alert", "alerts", true)
	fluxProvider          = kindOf(fluxNotices, "v1beta3", "Provider", "providers", true)
	fluxReceiver          = kindOf(fluxNotices, "v1", "Receiver", "receivers", true)
	imageRepository       = kindOf(fluxImages, "v1", "ImageRepository", "imagerepositories", true)
	imagePolicy           = kindOf(fluxImages, "v1", "ImagePolicy", "imagepolicies", true)
	imageAutomation       = kindOf(fluxImages, "v1", "ImageUpdateAutomation", "imageupdateautomations", true)
	subscription          = kindOf(olm, "v1alpha1", "Subscription", "subscriptions", true)
	catalogSource         = kindOf(olm, "v1alpha1", "CatalogSource", "catalogsources", true)
	canary                = kindOf("flagger.app", "v1beta1", "Canary", "canaries", true)
	// ReferenceGrant is the kind of permissions to refer to another namespace.
	ReferenceGrant = kindOf(gatewayAPI, "v1beta1", "ReferenceGrant", "referencegrants", true)
	gatewayRoutes  = []object.Kind{
		kindOf(gatewayAPI, "v1", "HTTPRoute", "httproutes", true),
		kindOf(gatewayAPI, "v1", "GRPCRoute", "grpcroutes", true),
		kindOf(gatewayAPI, "v1alpha2", "TLSRoute", "tlsroutes", true),
		kindOf(gatewayAPI, "v1alpha2", "TCPRoute", "tcproutes", true),
		kindOf(gatewayAPI, "v1alpha2", "UDPRoute", "udproutes", true),
	}
)

const noCredentials = "triggers that use it have no credentials"

// customRules returns the rules for kinds of other projects, as their API documents the fields.
//
// Source: gateway-api.sigs.k8s.io/reference/spec: ParentReference, BackendRef, SecretObjectReference, ReferenceGrant.
// Source: cert-manager.io/docs/reference/api-docs: ObjectReference (kind is Issuer by default); cert-manager,
// pkg/controller/certificates/keymanager/keymanager_controller.go createNextPrivateKeyRotationPolicyNever: without its
// Secret a certificate has a new key; pkg/issuer/acme/setup.go.
// Source: external-secrets.io/latest/api/externalsecret: secretStoreRef (kind is SecretStore by default).
// Source: keda.sh/docs/latest/reference/scaledobject-spec: scaleTargetRef (kind is Deployment by default); keda,
// pkg/scaling/resolver/scale_resolvers.go resolveAuthRef: what is missing is logged, and some scalers work without it.
// Source: istio.io/latest/docs/reference/config/networking: Destination.host: a short name is one of the
// namespace of the rule; VirtualService.gateways: NAME or NAMESPACE/NAME.
// Source: kubernetes.io/docs/concepts/workloads/autoscaling/vertical-pod-autoscale: targetRef.
// Source: argo-rollouts.readthedocs.io/en/stable/features/specification, /features/analysis (clusterScope); argo-rollouts,
// rollout/controller.go getRolloutReferencedResources: without one of them the spec is invalid, and nothing is done.
// Source: prometheus-operator.dev/docs/api-reference/api; prometheus-operator, pkg/alertmanager/operator.go
// loadConfigurationFromSecret.
// Source: knative.dev/docs/serving/reference/serving-api.
// Source: fluxcd.io/flux/components: kustomizations, helmreleases, and the sources.
func customRules() []Rule {
	list := []Rule{
		{User: gateway, Path: "spec.gatewayClassName", To: gatewayClass, Label: "gatewayClassName", Effect: "no controller serves it"},
		{User: gateway, Path: "spec.listeners[].tls.certificateRefs[]", Name: "name", To: secret, Or: []object.Kind{}, Granted: true, Label: "certificateRefs", Effect: "no TLS certificate"},
		{User: gateway, Path: "spec.infrastructure.parametersRef", Name: "name", To: configMap, Or: []object.Kind{}, Any: true, Label: "parametersRef", Effect: "its parameters are missing"},
		{User: gatewayClass, Path: "spec.parametersRef", Name: "name", To: configMap, Or: []object.Kind{}, Any: true, Label: "parametersRef", Effect: "its parameters are missing"},
		{User: certificate, Path: "spec.issuerRef", Name: "name", To: issuer, Or: []object.Kind{clusterIssuer}, Any: true, Label: "issuerRef", Effect: "it is not renewed"},
		{User: certificate, Path: "spec.secretName", To: secret, Created: true, Label: "secretName", Effect: "it is issued again, with another key"},
		{User: issuer, Path: "spec.ca.secretName", To: secret, Label: "ca", Effect: "it issues no certificates"},
		{User: issuer, Path: "spec.acme.privateKeySecretRef", Name: "name", To: secret, Created: true, Label: "privateKeySecretRef", Effect: "it registers a new account, or issues no certificates if it may not make a key"},
		{User: externalSecret, Path: "spec.secretStoreRef", Name: "name", To: secretStore, Or: []object.Kind{clusterSecretStore}, Label: "secretStoreRef", Effect: "its Secret is not refreshed"},
		{User: externalSecret, Path: "spec.dataFrom[].sourceRef.storeRef", Name: "name", To: secretStore, Or: []object.Kind{clusterSecretStore}, Label: "storeRef", Effect: "its Secret is not refreshed"},
		{User: externalSecret, Path: "spec.data[].sourceRef.storeRef", Name: "name", To: secretStore, Or: []object.Kind{clusterSecretStore}, Label: "storeRef", Effect: "its Secret is not refreshed"},
		{User: podAutoscaler, Path: "spec.targetRef", Name: "name", To: object.Deployment, Or: []object.Kind{object.StatefulSet, object.DaemonSet, object.ReplicaSet}, Label: "targetRef", Effect: "it has nothing to scale"},
		{User: scaledObject, Path: "spec.scaleTargetRef", Name: "name", To: object.Deployment, Or: []object.Kind{object.StatefulSet, object.ReplicaSet, rollout}, Label: "scaleTargetRef", Effect: "it has nothing to scale"},
		{User: scaledObject, Path: "spec.triggers[].authenticationRef", Name: "name", To: triggerAuth, Or: []object.Kind{clusterTriggerAuth}, Inexact: true, Label: "authenticationRef", Effect: "its trigger has no credentials"},
		{User: triggerAuth, Path: "spec.secretTargetRef[]", Name: "name", To: secret, Inexact: true, Label: "secretTargetRef", Effect: noCredentials},
		{User: triggerAuth, Path: "spec.configMapTargetRef[]", Name: "name", To: configMap, Inexact: true, Label: "configMapTargetRef", Effect: noCredentials},
		{User: destinationRule, Path: "spec.host", To: service, Host: true, Label: "host", Effect: "it applies to nothing"},
		{User: rollout, Path: "spec.workloadRef", Name: "name", To: object.Deployment, Or: []object.Kind{}, Label: "workloadRef", Effect: notReconciled},
		{User: prometheus, Path: "spec.serviceAccountName", To: object.ServiceAccount, Label: "serviceAccountName", Effect: newPodsRefused},
		{User: prometheus, Path: "spec.additionalScrapeConfigs", Name: "name", To: secret, Label: "additionalScrapeConfigs", Effect: "its configuration is not made"},
		{User: alertmanager, Path: "spec.configSecret", To: secret, Label: "configSecret", Effect: "its routes are replaced by a default that sends nothing"},
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
		list = append(list, Rule{User: rollout, Path: "spec.strategy." + in, Name: "templateName", To: analysis, Or: []object.Kind{clusterAnalysis}, Label: "analysis", Effect: notReconciled})
	}
	for _, in := range []string{"canary.stableService", "canary.canaryService", "canary.pingPong.pingService", "canary.pingPong.pongService", "blueGreen.activeService", "blueGreen.previewService"} {
		list = append(list, Rule{User: rollout, Path: "spec.strategy." + in, To: service, Label: in[strings.LastIndex(in, ".")+1:], Effect: notReconciled})
	}
	list = append(
		list,
		Rule{User: virtualService, Path: "spec.gateways[]", To: istioGateway, Reserved: "mesh", Label: "gateways", Effect: "it is not attached to it"},
		Rule{User: virtualService, Path: "spec.http[].mirror.host", To: service, Host: true, Label: "mirror", Effect: "requests are not mirrored"},
		Rule{User: virtualService, Path: "spec.http[].mirrors[].destination.host", To: service, Host: true, Label: "mirrors", Effect: "requests are not mirrored"},
	)
	for _, protocol := range []string{"http", "tcp", "tls"} {
		list = append(list, Rule{User: virtualService, Path: "spec." + protocol + "[].route[].destination.host", To: service, Host: true, Label: "destination", Backend: true, Effect: "no backend"})
	}
	list = slices.Concat(list, trafficRules, runRules, pipelineRules, infrastructureRules, operatorRules)
	for i := range list {
		list[i].When = cmp.Or(list[i].When, report.BreaksNextReconcile)
	}
	return append(
		list,
		Rule{User: ReferenceGrant, Path: "spec.from[]", Name: "name", To: gateway, Or: gatewayRoutes, SelectsAll: true, Label: "from", When: report.BreaksNever},
		Rule{User: ReferenceGrant, Path: "spec.to[]", Name: "name", To: service, Or: []object.Kind{secret}, SelectsAll: true, Label: "to", When: report.BreaksNever},
	)
}

// trafficRules are the rules for kinds that lead requests to Services.
//
// Source: docs.openshift.com, Route (route.openshift.io/v1): spec.to, alternateBackends, tls.externalCertificate.
// Source: doc.traefik.io/traefik/reference/routing-configuration/kubernetes/crd: services (kind is Service by default).
// Source: projectcontour.io/docs/main/config/api.
// Source: kubernetes-sigs.github.io/aws-load-balancer-controller, TargetGroupBinding: serviceRef.
// Source: metallb.universe.tf/apis: an advertisement without pools is for all of them.
// Source: knative.dev/docs/eventing/reference/eventing-api: Trigger.
var trafficRules = []Rule{
	{User: route, Path: "spec.to", Name: "name", To: service, Or: []object.Kind{}, Label: "to", Backend: true, Effect: "no backend"},
	{User: route, Path: "spec.alternateBackends[]", Name: "name", To: service, Or: []object.Kind{}, Label: "alternateBackends", Backend: true, Effect: "one backend less"},
	{User: route, Path: "spec.tls.externalCertificate", Name: "name", To: secret, Label: "externalCertificate", Effect: "no TLS certificate"},
	{User: ingressRoute, Path: "spec.routes[].services[]", Name: "name", To: service, Or: []object.Kind{traefikService}, Label: "services", Backend: true, Effect: "no backend"},
	{User: ingressRoute, Path: "spec.routes[].middlewares[]", Name: "name", To: traefikMiddleware, Label: "middlewares", Effect: "the route is not served"},
	{User: ingressRoute, Path: "spec.tls.secretName", To: secret, Label: "tls", Effect: "no TLS certificate"},
	{User: httpProxy, Path: "spec.routes[].services[]", Name: "name", To: service, Label: "services", Backend: true, Effect: "no backend"},
	{User: httpProxy, Path: "spec.tcpproxy.services[]", Name: "name", To: service, Label: "services", Backend: true, Effect: "no backend"},
	{User: httpProxy, Path: "spec.includes[]", Name: "name", To: httpProxy, Label: "includes", Effect: "it is not served"},
	{User: httpProxy, Path: "spec.virtualhost.tls.secretName", To: secret, Label: "tls", Effect: "it is not served"},
	{User: targetGroupBinding, Path: "spec.serviceRef", Name: "name", To: service, Label: "serviceRef", Backend: true, Effect: "it has no targets"},
	{User: bgpAdvertisement, Path: "spec.ipAddressPools[]", To: addressPool, Label: "ipAddressPools", Effect: "it does not advertise its addresses any more"},
	{User: l2Advertisement, Path: "spec.ipAddressPools[]", To: addressPool, Label: "ipAddressPools", Effect: "it does not advertise its addresses any more"},
	{User: trigger, Path: "spec.broker", To: broker, Label: "broker", Effect: "it receives no events"},
	{User: trigger, Path: "spec.subscriber.ref", Name: "name", To: knativeService, Or: []object.Kind{service}, Any: true, Label: "subscriber", Effect: "its events are not delivered"},
}

// runRules are the rules for kinds that start pods from other fields than a template.
//
// Source: argo-workflows.readthedocs.io/en/latest/fields: workflowTemplateRef, serviceAccountName.
// Source: kubeflow.github.io/spark-operator, SparkApplication (v1beta2).
// Source: kubevirt.io/api-reference: Volume; the claim of a DataVolume has its name.
// Source: kueue.sigs.k8s.io/docs/reference/kueue.v1beta1: a ClusterQueue without one of its flavors is inactive.
var runRules = []Rule{
	{User: workflow, Path: "spec.workflowTemplateRef", Name: "name", To: workflowTemplate, Or: []object.Kind{clusterWorkflow}, Label: "workflowTemplateRef", When: report.BreaksNever},
	{User: cronWorkflow, Path: "spec.workflowSpec.workflowTemplateRef", Name: "name", To: workflowTemplate, Or: []object.Kind{clusterWorkflow}, Label: "workflowTemplateRef", When: report.BreaksNextStart, Effect: "its next workflows fail"},
	{User: cronWorkflow, Path: "spec.workflowSpec.serviceAccountName", To: object.ServiceAccount, Label: "serviceAccountName", When: report.BreaksNextStart, Effect: "its next workflows fail"},
	{User: sparkApplication, Path: "spec.driver.serviceAccount", To: object.ServiceAccount, Label: "serviceAccount", When: report.BreaksNextStart, Effect: "its driver is not started again"},
	{User: sparkApplication, Path: "spec.driver.secrets[]", Name: "name", To: secret, Label: "secrets", When: report.BreaksNextStart, Effect: "its driver is not started again"},
	{User: sparkApplication, Path: "spec.driver.configMaps[]", Name: "name", To: configMap, Label: "configMaps", When: report.BreaksNextStart, Effect: "its driver is not started again"},
	{User: sparkApplication, Path: "spec.imagePullSecrets[]", To: secret, Label: "imagePullSecrets", When: report.BreaksNextStart, Effect: "new images are not pulled"},
	{User: virtualMachine, Path: "spec.template.spec.volumes[].persistentVolumeClaim", Name: "claimName", To: object.PVC, Label: "volume", When: report.BreaksNextStart, Effect: newMachine},
	{User: virtualMachine, Path: "spec.template.spec.volumes[].dataVolume", Name: "name", To: object.PVC, Label: "volume", When: report.BreaksNextStart, Effect: newMachine},
	{User: virtualMachine, Path: "spec.template.spec.volumes[].secret", Name: "secretName", To: secret, Label: "volume", When: report.BreaksNextStart, Effect: newMachine},
	{User: virtualMachine, Path: "spec.template.spec.volumes[].configMap", Name: "name", To: configMap, Label: "volume", When: report.BreaksNextStart, Effect: newMachine},
	{User: virtualMachine, Path: "spec.template.spec.volumes[].cloudInitNoCloud.secretRef", Name: "name", To: secret, Label: "cloudInit", When: report.BreaksNextStart, Effect: newMachine},
	{User: virtualMachine, Path: "spec.template.spec.networks[].multus.networkName", To: networkAttachment, Elsewhere: true, Label: "networks", When: report.BreaksNextStart, Effect: newMachine},
	{User: localQueue, Path: "spec.clusterQueue", To: clusterQueue, Label: "clusterQueue", Effect: "its workloads wait"},
	{User: clusterQueue, Path: "spec.resourceGroups[].flavors[]", Name: "name", To: resourceFlavor, Label: "flavors", Effect: "it admits no workloads"},
}

// pipelineRules are the rules for pipelines, events and databases.
//
// Source: tekton.dev/docs/pipelines/pipelines: taskRef (kind is Task by default); tekton.dev/docs/triggers/eventlisteners.
// Source: argoproj.github.io/argo-events/concepts/sensor.
// Source: docs.flagger.app/usage/how-it-works: targetRef.
// Source: strimzi.io/docs/operators/latest/deploying: the label strimzi.io/cluster.
// Source: cloudnative-pg.io/documentation/current/cloudnative-pg.v1: ScheduledBackup, Pooler.
var pipelineRules = []Rule{
	{User: tektonPipeline, Path: "spec.tasks[].taskRef", Name: "name", To: tektonTask, Or: []object.Kind{}, Any: true, Label: "taskRef", When: report.BreaksNextStart, Effect: "its next runs fail"},
	{User: tektonPipeline, Path: "spec.finally[].taskRef", Name: "name", To: tektonTask, Or: []object.Kind{}, Any: true, Label: "taskRef", When: report.BreaksNextStart, Effect: "its next runs fail"},
	{User: eventListener, Path: "spec.serviceAccountName", To: object.ServiceAccount, Label: "serviceAccountName", Effect: "its events start nothing"},
	{User: eventListener, Path: "spec.triggers[].template.ref", To: triggerTemplate, Label: "template", Effect: "its events start nothing"},
	{User: eventListener, Path: "spec.triggers[].bindings[]", Name: "ref", To: triggerBinding, Or: []object.Kind{clusterTriggerBinding}, Label: "bindings", Effect: "its events start nothing"},
	{User: sensor, Path: "spec.dependencies[].eventSourceName", To: eventSource, Label: "eventSourceName", Effect: "it receives no events"},
	{User: sensor, Path: "spec.eventBusName", To: eventBus, Label: "eventBusName", Effect: "it receives no events"},
	{User: eventSource, Path: "spec.eventBusName", To: eventBus, Label: "eventBusName", Effect: "its events are lost"},
	{User: canary, Path: "spec.targetRef", Name: "name", To: object.Deployment, Or: []object.Kind{object.DaemonSet, service}, Label: "targetRef", Effect: "it has nothing to roll out"},
	{User: kafkaTopic, Path: label(kafkaCluster), To: kafka, Label: "cluster", Effect: "it is not reconciled"},
	{User: kafkaPool, Path: label(kafkaCluster), To: kafka, Label: "cluster", Effect: "its nodes are not reconciled"},
	{User: kafkaUser, Path: label(kafkaCluster), To: kafka, Label: "cluster", Effect: "it is not reconciled"},
	{User: kafkaConnector, Path: label(kafkaCluster), To: kafkaConnect, Label: "cluster", Effect: "it does not run"},
	{User: postgresSchedule, Path: "spec.cluster", Name: "name", To: postgresCluster, Label: "cluster", Effect: "its next backups fail"},
	{User: postgresPooler, Path: "spec.cluster", Name: "name", To: postgresCluster, Label: "cluster", Effect: "it reaches no database"},
}

const kafkaCluster = "strimzi.io/cluster"

const newMachine = "a running machine goes on, but does not start again"

// infrastructureRules are the rules for projects, backups, secrets and nodes.
//
// Source: argo-cd.readthedocs.io/en/stable/user-guide/projects: every application belongs to a project.
// Source: external-secrets.io/latest/api/pushsecret: secretStoreRefs (kind is SecretStore by default).
// Source: velero.io/docs/main/api-types.
// Source: karpenter.sh/docs/concepts/nodepools: nodeClassRef.
// Source: fluxcd.io/flux/components: notification, imagerepositories, imagepolicies, imageupdateautomations.
// Source: olm.operatorframework.io/docs/concepts/crds/subscription: source, sourceNamespace.
// Source: sealed-secrets, pkg/controller/controller.go Controller.unseal.
var infrastructureRules = []Rule{
	{User: sealedSecret, Path: "metadata.name", To: secret, Created: true, Label: "name", Effect: "it is unsealed again"},
	{User: fluxAlert, Path: "spec.providerRef", Name: "name", To: fluxProvider, Label: "providerRef", Effect: "it sends nothing"},
	{User: fluxProvider, Path: "spec.secretRef", Name: "name", To: secret, Label: "secretRef", Effect: "it sends nothing"},
	{User: fluxReceiver, Path: "spec.secretRef", Name: "name", To: secret, Label: "secretRef", Effect: "its requests are refused"},
	{User: imageRepository, Path: "spec.secretRef", Name: "name", To: secret, Label: "secretRef", Effect: "it is not scanned"},
	{User: imagePolicy, Path: "spec.imageRepositoryRef", Name: "name", To: imageRepository, Label: "imageRepositoryRef", Effect: "it selects no image"},
	{User: imageAutomation, Path: "spec.sourceRef", Name: "name", To: gitRepository, Or: []object.Kind{}, Label: "sourceRef", Effect: "it updates nothing"},
	{User: subscription, Path: "spec.source", In: "spec.sourceNamespace", To: catalogSource, Label: "source", Effect: "its operator gets no updates"},
	{User: application, Path: "spec.project", To: appProject, Label: "project", Effect: "it is not synced"},
	{User: pushSecret, Path: "spec.secretStoreRefs[]", Name: "name", To: secretStore, Or: []object.Kind{clusterSecretStore}, Label: "secretStoreRefs", Effect: "its Secret is not pushed"},
	{User: pushSecret, Path: "spec.selector.secret", Name: "name", To: secret, Label: "selector", Effect: "it has nothing to push"},
	{User: veleroSchedule, Path: "spec.template.storageLocation", To: backupLocation, Label: "storageLocation", Effect: "its next backups fail"},
	{User: veleroBackup, Path: "spec.storageLocation", To: backupLocation, Label: "storageLocation", Effect: "it cannot be restored"},
	{User: backupLocation, Path: "spec.credential", Name: "name", To: secret, Label: "credential", Effect: "its storage is not reached"},
	{User: nodePool, Path: "spec.template.spec.nodeClassRef", Name: "name", To: ec2NodeClass, Or: []object.Kind{}, Any: true, Label: "nodeClassRef", Effect: "it starts no nodes"},
}
