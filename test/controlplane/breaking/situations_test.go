package breaking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// situation is a delete of an object that others refer to.
type situation struct {
	name string
	// objects are created after fill.
	objects, target string
	// broken has a line for each breakage: object, label, reference, time, and certainty unless it is sure.
	broken string
	// judge is nil if only a kubelet, a scheduler or a controller that is not part of Kubernetes notices.
	judge judge
	// prepare does what no manifest does. It may be nil.
	prepare func(t *testing.T, namespace string)
}

const (
	next    = "\n---\n"
	account = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: web}}"
	secret  = "{apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {password: VALUE}}"
	config  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {password: VALUE}}"
	role    = `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: reader}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`
	hook    = "{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: NAMESPACE}, spec: {ports: [{port: PORT}]}}" + next +
		"{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: hook, namespace: NAMESPACE, labels: {kubernetes.io/service-name: hook}}, addressType: IPv4, " +
		"endpoints: [{addresses: [HOST], conditions: {ready: true}}], ports: [{name: '', port: PORT}]}"
	web   = "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {clusterIP: None, selector: {app: web}, ports: [{port: 80}]}}"
	shop  = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: shop}, spec: {ingressClassName: breaking, tls: [{secretName: db}], defaultBackend: {service: {name: web, port: {number: 80}}}}}"
	claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {storageClassName: breaking, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}"
)

// workload returns a Deployment without pods, with these fields in the spec of its template.
func workload(spec string) string {
	return next + "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 0, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {" +
		spec + ", containers: [{name: c, image: c}]}}}}"
}

func clusterRole(name string) string {
	return `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: ` + name + `}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`
}

func binding(kind, roleKind, role string) string {
	return next + "{apiVersion: rbac.authorization.k8s.io/v1, kind: " + kind + ", metadata: {name: breaking-" + strings.ToLower(kind) + "}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: " +
		roleKind + ", name: " + role + "}, subjects: [{kind: ServiceAccount, name: web, namespace: NAMESPACE}]}"
}

// webhook returns a configuration for ConfigMaps of the namespace.
func webhook(kind, policy string) string {
	return next + "{apiVersion: admissionregistration.k8s.io/v1, kind: " + kind + "WebhookConfiguration, metadata: {name: breaking}, webhooks: [{name: hook.example.com, failurePolicy: " + policy +
		", sideEffects: None, admissionReviewVersions: [v1], timeoutSeconds: 5, clientConfig: {caBundle: CABUNDLE, service: {name: hook, namespace: NAMESPACE, port: PORT}}, " +
		"namespaceSelector: {matchLabels: {shop: NAMESPACE}}, " +
		`rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]}]}` +
		next + "{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-shop, labels: {shop: NAMESPACE}}}"
}

// situations are in the order in which they run.
var situations = []situation{
	{
		"ServiceAccount: new pods", account + workload("serviceAccountName: web"), "serviceaccount/web",
		"web serviceAccountName web now", starts(`"serviceAccountName":"web"`), nil,
	},
	{
		"ServiceAccount: tokens of running pods", account + workload("serviceAccountName: web"), "serviceaccount/web",
		"web serviceAccountName web now", authenticates(), nil,
	},
	{
		"PriorityClass", "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: breaking}, value: 5}" + workload("priorityClassName: breaking"),
		"priorityclass/breaking", "web priorityClassName breaking nextStart", starts(`"priorityClassName":"breaking"`), nil,
	},
	{
		"RuntimeClass", "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: breaking}, handler: h}" + workload("runtimeClassName: breaking"),
		"runtimeclass/breaking", "web runtimeClassName breaking nextStart", starts(`"runtimeClassName":"breaking"`), nil,
	},
	{"Role", account + next + role + binding("RoleBinding", "Role", "reader"), "role/reader", "breaking-rolebinding roleRef reader now", mayRead, nil},
	{"RoleBinding", account + next + role + binding("RoleBinding", "Role", "reader"), "rolebinding/breaking-rolebinding", "web subjects breaking-rolebinding now", mayRead, nil},
	{
		"ClusterRole of a RoleBinding", account + next + clusterRole("breaking-reader") + binding("RoleBinding", "ClusterRole", "breaking-reader"),
		"clusterrole/breaking-reader", "breaking-rolebinding roleRef breaking-reader now", mayRead, nil,
	},
	{
		"ClusterRole of a ClusterRoleBinding", account + next + clusterRole("breaking-viewer") + binding("ClusterRoleBinding", "ClusterRole", "breaking-viewer"),
		"clusterrole/breaking-viewer", "breaking-clusterrolebinding roleRef breaking-viewer now", mayRead, nil,
	},
	{
		"ClusterRoleBinding", account + next + clusterRole("breaking-watcher") + binding("ClusterRoleBinding", "ClusterRole", "breaking-watcher"),
		"clusterrolebinding/breaking-clusterrolebinding", "web subjects breaking-clusterrolebinding now", mayRead, nil,
	},
	{
		"one of two bindings", account + next + role + binding("RoleBinding", "Role", "reader") + strings.Replace(binding("RoleBinding", "Role", "reader"), "breaking-", "another-", 1),
		"rolebinding/another-rolebinding", "", mayRead, nil,
	},
	{"Service of a ValidatingWebhook", hook + webhook("Validating", "Fail"), "service/hook", "breaking hook.example.com hook now", writes, nil},
	{"Service of a MutatingWebhook", hook + webhook("Mutating", "Fail"), "service/hook", "breaking hook.example.com hook now", writes, nil},
	{"Service of a webhook that is ignored", hook + webhook("Validating", "Ignore"), "service/hook", "breaking hook.example.com hook now", nil, nil},
	{"namespace of a webhook's Service", hook + webhook("Validating", "Fail"), "namespace/NAMESPACE", "breaking hook.example.com hook now", writes, nil},
	{
		"Service of an APIService", hook + next + "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.called.example.com}, spec: {group: called.example.com, version: v1, " +
			"groupPriorityMinimum: 10, versionPriority: 10, caBundle: CABUNDLE, service: {namespace: NAMESPACE, name: hook, port: PORT}}}",
		"service/hook", "v1.called.example.com service hook now", serves("/apis/called.example.com/v1"), nil,
	},
	{
		"Service of a conversion webhook", hook + next + `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.converted.example.com}, spec: {group: converted.example.com, scope: Namespaced,
			names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}, {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}],
			conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {caBundle: CABUNDLE, service: {name: hook, namespace: NAMESPACE, port: PORT}}}}}}`,
		"service/hook", "things.converted.example.com conversion hook now", serves("/apis/converted.example.com/v2/namespaces/NAMESPACE/things/one"), storesThing,
	},
	{
		"ValidatingAdmissionPolicy", `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: breaking}, spec: {failurePolicy: Fail, validations: [{expression: "false"}],
			matchConstraints: {resourceRules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]}}}` + next +
			"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: breaking}, spec: {policyName: breaking, validationActions: [Deny], matchResources: {namespaceSelector: {matchLabels: {shop: NAMESPACE}}}}}" +
			next + "{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-shop, labels: {shop: NAMESPACE}}}",
		"validatingadmissionpolicy/breaking", "breaking policyName breaking now", refuses, nil,
	},
	{
		"StorageClass of a Pending claim", "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: breaking}, provisioner: example.com/none}" + next + claim,
		"storageclass/breaking", "data storageClassName breaking nextReconcile", without("ProvisioningFailed"), nil,
	},
	{
		"target of an autoscaler", strings.TrimPrefix(workload("hostNetwork: false"), next) + next +
			"{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}",
		"deployment/web", "web scaleTargetRef web nextReconcile", scales, nil,
	},
	{
		"ResourceClaimTemplate", "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: gpu}, spec: {spec: {}}}" + workload("resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]"),
		"resourceclaimtemplate/gpu", "web resourceClaims gpu nextStart", claims, nil,
	},
	{
		"pods of a Service behind an Ingress", "{apiVersion: v1, kind: Node, metadata: {name: breaking}}" + next +
			"{apiVersion: v1, kind: Pod, metadata: {name: web-0, labels: {app: web}}, spec: {nodeName: breaking, terminationGracePeriodSeconds: 0, containers: [{name: c, image: c}]}}" + next + web + next + shop,
		"pod/web-0", "shop defaultBackend web now", hasEndpoints, makeReady,
	},
	// A claim protects its volume as long as it is bound to it.
	{
		"PersistentVolume of a claim", "{apiVersion: v1, kind: PersistentVolume, metadata: {name: breaking}, spec: {storageClassName: breaking, capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /none}}}" + next + claim,
		"persistentvolume/breaking", "", bound, nil,
	},
	// Source: kubernetes, pkg/kubelet/kuberuntime/kuberuntime_container.go startContainer: CreateContainerConfigError.
	{
		"Secret in the environment and in a volume", secret + workload("volumes: [{name: v, secret: {secretName: db}}], initContainers: [{name: i, image: i, envFrom: [{secretRef: {name: db}}]}]"),
		"secret/db", "web envFrom db nextStart\nweb volume db nextStart", nil, nil,
	},
	{"optional ConfigMap", config + workload("volumes: [{name: v, configMap: {name: settings, optional: true}}]"), "configmap/settings", "", nil, nil},
	// Source: kubernetes, plugin/pkg/admission/serviceaccount/admission.go Admit: pods get the pull secrets of their account.
	{
		"pull secret", secret + next + "{apiVersion: v1, kind: ServiceAccount, metadata: {name: web}, imagePullSecrets: [{name: db}]}" + workload("imagePullSecrets: [{name: db}]"),
		"secret/db", "web imagePullSecrets db nextStart\nweb imagePullSecrets db nextStart", nil, nil,
	},
	// Source: kubernetes, pkg/scheduler/schedule_one.go: persistentvolumeclaim "data" not found.
	{"claim of a workload", claim + workload("volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]"), "persistentvolumeclaim/data", "web volume data nextStart", nil, nil},
	{"certificate of an Ingress", secret + next + shop, "secret/db", "shop tls db nextReconcile", nil, nil},
	{"backend of an Ingress", web + next + shop, "service/web", "shop defaultBackend web nextReconcile", nil, nil},
	{
		"IngressClass", "{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: breaking}, spec: {controller: example.com/none}}" + next + shop,
		"ingressclass/breaking", "shop ingressClassName breaking nextReconcile", nil, nil,
	},
}

// starts is a judge: a pod with these fields can be created.
func starts(spec string) judge {
	return func(ctx context.Context, ns string) error {
		_, err := post(ctx, "/api/v1/namespaces/"+ns+"/pods?dryRun=All", `{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"p-"},"spec":{`+spec+`,"containers":[{"name":"c","image":"c"}]}}`)
		return err
	}
}

// authenticates returns a judge: a token of the account, from before the delete, is valid.
func authenticates() judge {
	token := ""
	return func(ctx context.Context, ns string) error {
		if token == "" {
			text, err := post(ctx, "/api/v1/namespaces/"+ns+"/serviceaccounts/web/token", "{}")
			var made struct{ Status struct{ Token string } }
			if err := errors.Join(err, json.Unmarshal(text, &made)); err != nil {
				return err
			}
			token = made.Status.Token
		}
		return reviewed(ctx, "authentication.k8s.io/v1", "TokenReview", fmt.Sprintf(`{"token":%q}`, token))
	}
}

// mayRead is a judge: the account may read pods.
func mayRead(ctx context.Context, ns string) error {
	return reviewed(ctx, "authorization.k8s.io/v1", "SubjectAccessReview", fmt.Sprintf(`{"user":"system:serviceaccount:%[1]s:web","resourceAttributes":{"namespace":%[1]q,"verb":"get","resource":"pods"}}`, ns))
}

func reviewed(ctx context.Context, version, kind, spec string) error {
	text, err := post(ctx, "/apis/"+version+"/"+strings.ToLower(kind)+"s", fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"spec":%s}`, version, kind, spec))
	var review struct {
		Status struct {
			Allowed, Authenticated bool
			Reason, Error          string
		}
	}
	if err := errors.Join(err, json.Unmarshal(text, &review)); err != nil {
		return err
	}
	if s := review.Status; !s.Allowed && !s.Authenticated {
		return fmt.Errorf("%s: refused %s%s", kind, s.Reason, s.Error)
	}
	return nil
}

// writes is a judge: a ConfigMap can be created in the namespace that a webhook selects.
func writes(ctx context.Context, ns string) error {
	_, err := post(ctx, "/api/v1/namespaces/"+ns+"-shop/configmaps?dryRun=All", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"c-"}}`)
	return err
}

// refuses is a judge: a policy refuses that ConfigMap.
func refuses(ctx context.Context, ns string) error {
	if err := writes(ctx, ns); err == nil {
		return errors.New("what the policy forbids is written")
	}
	return nil
}

// serves returns a judge: an API answers.
func serves(path string) judge {
	return func(ctx context.Context, ns string) error {
		_, err := stage.Do(ctx, "GET", strings.ReplaceAll(path, "NAMESPACE", ns), "", nil)
		return err
	}
}

// without returns a judge: there is no Event with that reason.
func without(reason string) judge {
	return func(ctx context.Context, ns string) error {
		list, err := read[struct {
			Items []struct{ Reason, Message string }
		}](ctx, "/api/v1/namespaces/"+ns+"/events")
		for _, e := range list.Items {
			if e.Reason == reason {
				return fmt.Errorf("Event %s: %s", e.Reason, e.Message)
			}
		}
		return err
	}
}

// claims is a judge: a new pod gets a ResourceClaim of the template.
func claims(ctx context.Context, ns string) error {
	_, err := post(ctx, "/api/v1/namespaces/"+ns+"/pods", `{"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"p-"},"spec":{"resourceClaims":[{"name":"gpu","resourceClaimTemplateName":"gpu"}],"containers":[{"name":"c","image":"c"}]}}`)
	return errors.Join(err, without("FailedResourceClaimCreation")(ctx, ns))
}

// scales is a judge: the autoscaler finds its target.
func scales(ctx context.Context, ns string) error {
	h, err := read[struct {
		Status struct {
			Conditions []struct{ Type, Status, Reason, Message string }
		}
	}](ctx, "/apis/autoscaling/v2/namespaces/"+ns+"/horizontalpodautoscalers/web")
	if err != nil {
		return err
	}
	for _, c := range h.Status.Conditions {
		if c.Type == "AbleToScale" {
			if c.Status == "True" {
				return nil
			}
			return fmt.Errorf("%s: %s", c.Reason, c.Message)
		}
	}
	return errors.New("it was not looked at yet")
}

// hasEndpoints is a judge: the Service web has a ready pod.
func hasEndpoints(ctx context.Context, ns string) error {
	list, err := read[struct {
		Items []struct {
			Endpoints []struct{ Conditions struct{ Ready bool } }
		}
	}](ctx, "/apis/discovery.k8s.io/v1/namespaces/"+ns+"/endpointslices?labelSelector=kubernetes.io/service-name=web")
	for _, s := range list.Items {
		for _, e := range s.Endpoints {
			if e.Conditions.Ready {
				return err
			}
		}
	}
	return errors.Join(err, errors.New("no ready endpoint"))
}

// bound is a judge: the claim is bound.
func bound(ctx context.Context, ns string) error {
	c, err := read[struct{ Status struct{ Phase string } }](ctx, "/api/v1/namespaces/"+ns+"/persistentvolumeclaims/data")
	if err == nil && c.Status.Phase != "Bound" {
		err = errors.New("the claim is " + c.Status.Phase)
	}
	return err
}

// makeReady plays the kubelet of the pod web-0.
func makeReady(t *testing.T, ns string) {
	t.Helper()
	_, err := stage.Do(t.Context(), "PATCH", "/api/v1/namespaces/"+ns+"/pods/web-0/status", "application/merge-patch+json",
		[]byte(`{"status":{"phase":"Running","podIP":"10.1.2.3","podIPs":[{"ip":"10.1.2.3"}],"conditions":[{"type":"Ready","status":"True"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
}

// storesThing stores an object that the conversion webhook converts.
func storesThing(t *testing.T, ns string) {
	t.Helper()
	if err := stage.Serves(t.Context(), "converted.example.com", "things", "v1", "v2"); err != nil {
		t.Fatal(err)
	}
	if _, err := post(t.Context(), "/apis/converted.example.com/v1/namespaces/"+ns+"/things", `{"apiVersion":"converted.example.com/v1","kind":"Thing","metadata":{"name":"one"}}`); err != nil {
		t.Fatal(err)
	}
}
