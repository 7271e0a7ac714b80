package uses

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func text(r Reference) string {
	s := r.Field + " " + r.Kind
	if r.Group != "" {
		s += "." + r.Group
	}
	s += " " + r.Namespace + "/" + r.Name
	if r.Selector != nil {
		s += " {" + *r.Selector + "}"
	}
	if r.Optional {
		s += " optional"
	}
	if r.Idle {
		s += " idle"
	}
	return s
}

// TestOf has an object for the forms of the table.
func TestOf(t *testing.T) {
	for name, c := range map[string]struct {
		kind schema.GroupKind
		json string
		want []string
	}{
		"names, keys and lists": {object.CronJob.GroupKind, `{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"serviceAccountName":"a","volumes":[{"secret":{"secretName":"s","optional":true}},{"projected":{"sources":[{"configMap":{"name":"c"}}]}}]}}}}}}`, []string{
			"spec.jobTemplate.spec.template.spec.volumes[].secret Secret shop/s optional",
			"spec.jobTemplate.spec.template.spec.volumes[].projected.sources[].configMap ConfigMap shop/c",
			"spec.jobTemplate.spec.template.spec.serviceAccountName ServiceAccount shop/a",
		}},
		"the account default": {object.Deployment.GroupKind, `{"spec":{"template":{"spec":{"restartPolicy":"Always"}}}}`, []string{"spec.template.spec.serviceAccountName ServiceAccount shop/default"}},
		"another account":     {object.Deployment.GroupKind, `{"spec":{"template":{"spec":{"restartPolicy":"Always","serviceAccountName":"web"}}}}`, []string{"spec.template.spec.serviceAccountName ServiceAccount shop/web"}},
		"no template":         {object.Deployment.GroupKind, `{"metadata":{"name":"web"}}`, nil},
		"the device class of a claim": {object.ResourceClaim.GroupKind, `{"spec":{"devices":{"requests":[{"name":"a","exactly":{"deviceClassName":"gpu"}},{"name":"b","firstAvailable":[{"deviceClassName":"big"},{"deviceClassName":"small"}]}]}}}`, []string{
			"spec.devices.requests[].exactly.deviceClassName DeviceClass.resource.k8s.io /gpu",
			"spec.devices.requests[].firstAvailable[].deviceClassName DeviceClass.resource.k8s.io /big",
			"spec.devices.requests[].firstAvailable[].deviceClassName DeviceClass.resource.k8s.io /small",
		}},
		"a guess beside the table": {issuer.GroupKind, `{"spec":{"acme":{"privateKeySecretRef":{"name":"account"},"solvers":[{"dns01":{"cloudflare":{"apiTokenSecretRef":{"name":"cf"}}}}]}}}`, []string{
			"spec.acme.privateKeySecretRef Secret shop/account", "spec.acme.solvers[].dns01.cloudflare.apiTokenSecretRef Secret shop/cf",
		}},
		"templates of an analysis": {rollout.GroupKind, `{"spec":{"strategy":{"canary":{"steps":[{"analysis":{"templates":[{"templateName":"errors"},{"templateName":"errors","clusterScope":true}]}}]}}}}`, []string{
			"spec.strategy.canary.steps[].analysis.templates[] AnalysisTemplate.argoproj.io shop/errors",
			"spec.strategy.canary.steps[].analysis.templates[] ClusterAnalysisTemplate.argoproj.io /errors",
		}},
		"a gateway with its namespace": {virtualService.GroupKind, `{"spec":{"gateways":["mesh","own","istio-system/public"]}}`, []string{
			"spec.gateways[] Gateway.networking.istio.io shop/own", "spec.gateways[] Gateway.networking.istio.io istio-system/public",
		}},
		"a mirror":                           {gatewayRoutes[0].GroupKind, `{"spec":{"rules":[{"filters":[{"requestMirror":{"backendRef":{"name":"canary"}}}]}]}}`, []string{"spec.rules[].filters[].requestMirror.backendRef Service shop/canary"}},
		"a name twice":                       {object.Pod.GroupKind, `{"spec":{"containers":[{"envFrom":[{"secretRef":{"name":"s"}},{"secretRef":{"name":"s"}}]},{"envFrom":[{"secretRef":{"name":"s"}}]}]}}`, []string{"spec.containers[].envFrom[].secretRef Secret shop/s"}},
		"a selector":                         {service.GroupKind, `{"spec":{"selector":{"b":"2","a":"1"}}}`, []string{"spec.selector Pod shop/ {a=1,b=2}"}},
		"all pods":                           {NetworkPolicy.GroupKind, `{"spec":{"podSelector":{}}}`, []string{"spec.podSelector Pod shop/ {}"}},
		"no selector":                        {service.GroupKind, `{"spec":{"selector":{}}}`, nil},
		"another kind":                       {scaler.GroupKind, `{"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"StatefulSet","name":"db"}}}`, []string{"spec.scaleTargetRef StatefulSet.apps shop/db"}},
		"a cluster-scoped kind, by its name": {certificate.GroupKind, `{"spec":{"issuerRef":{"kind":"ClusterIssuer","name":"le"}}}`, []string{"spec.issuerRef ClusterIssuer.cert-manager.io /le"}},
		"another namespace": {gatewayRoutes[0].GroupKind, `{"spec":{"parentRefs":[{"name":"gw","namespace":"infra"}],"rules":[{"backendRefs":[{"name":"web"}]}]}}`, []string{
			"spec.parentRefs[] Gateway.gateway.networking.k8s.io infra/gw", "spec.rules[].backendRefs[] Service shop/web",
		}},
		"hosts":   {virtualService.GroupKind, `{"spec":{"http":[{"route":[{"destination":{"host":"web"}},{"destination":{"host":"api.pay.svc.cluster.local"}},{"destination":{"host":"www.example.com"}}]}]}}`, []string{"spec.http[].route[].destination.host Service shop/web", "spec.http[].route[].destination.host Service pay/api"}},
		"bound":   {object.PVC.GroupKind, `{"spec":{"storageClassName":"fast"},"status":{"phase":"Bound"}}`, []string{"spec.storageClassName StorageClass.storage.k8s.io /fast idle"}},
		"pending": {object.PVC.GroupKind, `{"spec":{"storageClassName":"fast"},"status":{"phase":"Pending"}}`, []string{"spec.storageClassName StorageClass.storage.k8s.io /fast"}},
		"a driver of a pod's own volume": {object.Pod.GroupKind, `{"spec":{"volumes":[{"csi":{"driver":"secrets-store.csi.k8s.io","nodePublishSecretRef":{"name":"s"}}}]}}`, []string{
			"spec.volumes[].csi.nodePublishSecretRef Secret shop/s", "spec.volumes[].csi.driver CSIDriver.storage.k8s.io /secrets-store.csi.k8s.io",
		}},
		"an attachment": {object.VolumeAttachment.GroupKind, `{"spec":{"attacher":"ebs.csi.aws.com","nodeName":"n1","source":{"persistentVolumeName":"pv1"}}}`, []string{
			"spec.attacher CSIDriver.storage.k8s.io /ebs.csi.aws.com", "spec.nodeName Node /n1", "spec.source.persistentVolumeName PersistentVolume /pv1",
		}},
		"drivers of a node": {object.CSINode.GroupKind, `{"spec":{"drivers":[{"name":"a.csi"},{"name":"b.csi"}]}}`, []string{
			"spec.drivers[].name CSIDriver.storage.k8s.io /a.csi", "spec.drivers[].name CSIDriver.storage.k8s.io /b.csi",
		}},
		"a provisioner": {object.StorageClass.GroupKind, `{"provisioner":"ebs.csi.aws.com"}`, []string{"provisioner CSIDriver.storage.k8s.io /ebs.csi.aws.com"}},
		"backends of another kind": {Ingress.GroupKind, `{"spec":{"defaultBackend":{"resource":{"apiGroup":"k8s.example.com","kind":"StorageBucket","name":"static"}},"rules":[{"http":{"paths":[{"backend":{"resource":{"apiGroup":"k8s.example.com","kind":"StorageBucket","name":"icons"}}}]}}]}}`, []string{
			"spec.rules[].http.paths[].backend.resource StorageBucket.k8s.example.com shop/icons", "spec.defaultBackend.resource StorageBucket.k8s.example.com shop/static",
		}},
		"parameters of a class": {IngressClass.GroupKind, `{"spec":{"parameters":{"apiGroup":"k8s.example.com","kind":"IngressParameters","name":"lb","scope":"Namespace","namespace":"infra"}}}`, []string{
			"spec.parameters IngressParameters.k8s.example.com infra/lb",
		}},
		"APIs of metrics": {scaler.GroupKind, `{"spec":{"metrics":[{"type":"Resource"},{"type":"Object"},{"type":"Unknown"}]}}`, []string{
			"spec.metrics[].type APIService.apiregistration.k8s.io /v1beta1.metrics.k8s.io",
			"spec.metrics[].type APIService.apiregistration.k8s.io /v1beta2.custom.metrics.k8s.io",
			"spec.metrics[].type APIService.apiregistration.k8s.io /v1beta1.custom.metrics.k8s.io",
		}},
		"any value": {scaler.GroupKind, `{"spec":{"targetCPUUtilizationPercentage":80}}`, []string{
			"spec.targetCPUUtilizationPercentage APIService.apiregistration.k8s.io /v1beta1.metrics.k8s.io",
		}},
		"a kind without its group": {ingressRoute.GroupKind, `{"spec":{"routes":[{"services":[{"name":"web"},{"kind":"TraefikService","name":"split","namespace":"edge"}]}]}}`, []string{
			"spec.routes[].services[] Service shop/web", "spec.routes[].services[] TraefikService.traefik.io edge/split",
		}},
		"the volumes of a machine": {virtualMachine.GroupKind, `{"spec":{"template":{"spec":{"volumes":[{"dataVolume":{"name":"root"}},{"persistentVolumeClaim":{"claimName":"data"}},{"cloudInitNoCloud":{"secretRef":{"name":"init"}}}]}}}}`, []string{
			"spec.template.spec.volumes[].persistentVolumeClaim PersistentVolumeClaim shop/data", "spec.template.spec.volumes[].dataVolume PersistentVolumeClaim shop/root",
			"spec.template.spec.volumes[].cloudInitNoCloud.secretRef Secret shop/init",
		}},
		"an object with the data of a volume": {object.PV.GroupKind, `{"metadata":{"name":"pvc-1"},"spec":{"csi":{"driver":"driver.longhorn.io","volumeHandle":"v1"}}}`, []string{
			"spec.csi.driver CSIDriver.storage.k8s.io /driver.longhorn.io", "spec.csi.volumeHandle Volume.longhorn.io longhorn-system/v1",
		}},
		"a pool of Ceph": {object.StorageClass.GroupKind, `{"provisioner":"rook-ceph.rbd.csi.ceph.com","parameters":{"clusterID":"rook-ceph","pool":"replicas"}}`, []string{
			"provisioner CSIDriver.storage.k8s.io /rook-ceph.rbd.csi.ceph.com", "parameters.pool CephBlockPool.ceph.rook.io rook-ceph/replicas",
		}},
		"a name outside of the cluster": {service.GroupKind, `{"spec":{"type":"ExternalName","externalName":"db.example.com"}}`, nil},
		"a name in the cluster":         {service.GroupKind, `{"spec":{"type":"ExternalName","externalName":"db.data.svc.cluster.local"}}`, []string{"spec.externalName Service data/db"}},
		"a catalog":                     {subscription.GroupKind, `{"spec":{"source":"operators","sourceNamespace":"olm"}}`, []string{"spec.source CatalogSource.operators.coreos.com olm/operators"}},
		"two templates": {rayCluster.GroupKind, `{"spec":{"headGroupSpec":{"template":{"spec":{"serviceAccountName":"head"}}},"workerGroupSpecs":[{"template":{"spec":{"priorityClassName":"low"}}}]}}`, []string{
			"spec.headGroupSpec.template.spec.serviceAccountName ServiceAccount shop/head", "spec.workerGroupSpecs[].template.spec.priorityClassName PriorityClass.scheduling.k8s.io /low",
		}},
		"a grant": {ReferenceGrant.GroupKind, `{"spec":{"from":[{"group":"gateway.networking.k8s.io","kind":"HTTPRoute","namespace":"web"}],"to":[{"group":"","kind":"Service"},{"group":"","kind":"Secret","name":"tls"}]}}`, []string{
			"spec.from[] HTTPRoute.gateway.networking.k8s.io web/ {}", "spec.to[] Service shop/ {}", "spec.to[] Secret shop/tls",
		}},
		"annotations": {Ingress.GroupKind, `{"metadata":{"annotations":{"nginx.ingress.kubernetes.io/auth-secret":"auth/basic","nginx.ingress.kubernetes.io/auth-tls-secret":"ca","cert-manager.io/cluster-issuer":"le",` +
			`"traefik.ingress.kubernetes.io/router.middlewares":"shop-strip@kubernetescrd, infra-limit@kubernetescrd, file@file","konghq.com/plugins":"limit, cors"}}}`, []string{
			"metadata.annotations['nginx.ingress.kubernetes.io/auth-secret'] Secret auth/basic",
			"metadata.annotations['nginx.ingress.kubernetes.io/auth-tls-secret'] Secret shop/ca",
			"metadata.annotations['traefik.ingress.kubernetes.io/router.middlewares'] Middleware.traefik.io shop/strip",
			"metadata.annotations['cert-manager.io/cluster-issuer'] ClusterIssuer.cert-manager.io /le",
			"metadata.annotations['konghq.com/plugins'] KongPlugin.configuration.konghq.com shop/limit",
			"metadata.annotations['konghq.com/plugins'] KongPlugin.configuration.konghq.com shop/cors",
		}},
		"networks": {object.Deployment.GroupKind, `{"spec":{"template":{"metadata":{"annotations":{"k8s.v1.cni.cncf.io/networks":"macvlan,infra/sriov@eth1"}}}}}`, []string{
			"spec.template.metadata.annotations['k8s.v1.cni.cncf.io/networks'] NetworkAttachmentDefinition.k8s.cni.cncf.io shop/macvlan",
			"spec.template.metadata.annotations['k8s.v1.cni.cncf.io/networks'] NetworkAttachmentDefinition.k8s.cni.cncf.io infra/sriov",
		}},
		"networks in JSON": {object.Pod.GroupKind, `{"metadata":{"annotations":{"k8s.v1.cni.cncf.io/networks":"[{\"name\":\"macvlan\"},{\"name\":\"sriov\",\"namespace\":\"infra\"}]"}}}`, []string{
			"metadata.annotations['k8s.v1.cni.cncf.io/networks'] NetworkAttachmentDefinition.k8s.cni.cncf.io shop/macvlan",
			"metadata.annotations['k8s.v1.cni.cncf.io/networks'] NetworkAttachmentDefinition.k8s.cni.cncf.io infra/sriov",
		}},
		"secrets of a class": {object.StorageClass.GroupKind, `{"parameters":{"csi.storage.k8s.io/provisioner-secret-name":"ceph","csi.storage.k8s.io/provisioner-secret-namespace":"rook",` +
			`"csi.storage.k8s.io/node-stage-secret-name":"${pvc.name}","csi.storage.k8s.io/node-stage-secret-namespace":"${pvc.namespace}","csi.storage.k8s.io/node-publish-secret-name":"no-namespace"}}`, []string{
			"parameters['csi.storage.k8s.io/provisioner-secret-name'] Secret rook/ceph",
		}},
		"a local volume": {object.PV.GroupKind, `{"spec":{"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"kubernetes.io/hostname","operator":"In","values":["n1"]},{"key":"kubernetes.io/hostname","operator":"In","values":["n1","n2"]},{"key":"zone","operator":"In","values":["a"]}]}]}}}}`, []string{
			"spec.nodeAffinity.required.nodeSelectorTerms[].matchExpressions[] Node /n1",
		}},
		"the class of a Cluster": {object.CAPICluster.GroupKind, `{"spec":{"topology":{"classRef":{"name":"quick","namespace":"infra"}}}}`, []string{"spec.topology ClusterClass.cluster.x-k8s.io infra/quick", "spec.topology.classRef Class.cluster.x-k8s.io infra/quick"}},
		"the same in v1beta1":    {object.CAPICluster.GroupKind, `{"spec":{"topology":{"class":"quick"}}}`, []string{"spec.topology ClusterClass.cluster.x-k8s.io shop/quick"}},
		"a label":                {kafkaTopic.GroupKind, `{"metadata":{"labels":{"strimzi.io/cluster":"main"}}}`, []string{"metadata.labels['strimzi.io/cluster'] Kafka.kafka.strimzi.io shop/main"}},
		"bindings of events": {eventListener.GroupKind, `{"spec":{"triggers":[{"bindings":[{"ref":"push"},{"ref":"all","kind":"ClusterTriggerBinding"},{"name":"inline","value":"x"}],"template":{"ref":"build"}}]}}`, []string{
			"spec.triggers[].template.ref TriggerTemplate.triggers.tekton.dev shop/build", "spec.triggers[].bindings[] TriggerBinding.triggers.tekton.dev shop/push",
			"spec.triggers[].bindings[] ClusterTriggerBinding.triggers.tekton.dev /all",
		}},
		"secrets of a provider": {object.Deployment.GroupKind, `{"spec":{"template":{"spec":{"volumes":[{"csi":{"driver":"secrets-store.csi.k8s.io","volumeAttributes":{"secretProviderClass":"vault"}}}]}}}}`, []string{
			"spec.template.spec.volumes[].csi.driver CSIDriver.storage.k8s.io /secrets-store.csi.k8s.io",
			"spec.template.spec.volumes[].csi.volumeAttributes.secretProviderClass SecretProviderClass.secrets-store.csi.x-k8s.io shop/vault",
		}},
		"other types":     {object.Pod.GroupKind, `{"spec":{"containers":{"envFrom":3},"volumes":[1,{"secret":"s"},{"secret":{"secretName":null}}],"serviceAccountName":{}}}`, nil},
		"no object":       {object.Pod.GroupKind, `[1]`, nil},
		"an unknown kind": {schema.GroupKind{Kind: "Secret"}, `{"data":{"a":"b"}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range Of(c.kind, "shop", []byte(c.json)) {
				got = append(got, text(r))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestTable checks that every rule can be shown, and that no rule reads a value of a Secret or ConfigMap.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		if k.GroupKind == secret.GroupKind || k.GroupKind == configMap.GroupKind {
			t.Errorf("%s is read", k.Kind)
		}
		for _, r := range byUser[k.GroupKind] {
			id := k.GroupKind.String() + " " + r.Path + " " + r.To.GroupKind.String()
			if seen[id] {
				t.Errorf("%s: twice", id)
			}
			seen[id] = true
			if f := fieldTrees[k.GroupKind].at(stepsOf(r.Path)); f.below != nil || f.entries != nil {
				t.Errorf("%s: fields below are read by another rule", id)
			}
			if r.Label == "" || !slices.Contains(report.BreakageTimes(), r.When) || r.Effect == "" && r.When != report.BreaksNever {
				t.Errorf("%s: incomplete", id)
			}
		}
	}
}

func TestGuessOf(t *testing.T) {
	raw := `{"spec":{"caSecretName":"ca","auth":[{"passwordSecretRef":{"name":"pw","key":"x"}}],"configMapName":"cm","name":"n","secretName":["x"],"credentials":{"secretRef":{"name":"aws","namespace":"ops"}},"valuesFrom":[{"kind":"ConfigMap","name":"values"},{"kind":"Widget","name":"w"},{"kind":"Deployment","name":"api"}],"accessKey":{"name":"s3","key":"id"},"rules":{"configMap":{"name":"r","key":"k"}},"accountRef":"main","bigPoolReferences":[{"name":"b"}],"matchExpressions":[{"key":"a","operator":"Exists"}],"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},"nodeRef":{"apiVersion":"v1","kind":"Node","name":"n1"},"poolRef":{"group":"example.com","kind":"Pool","name":"p","namespace":"infra"},"storage":{"storageClassName":"fast","existingClaimName":"data"},"serviceAccountName":"runner"},"status":{"secretName":"no"}}`
	var got []string
	for _, r := range GuessOf("example.com", "shop", []byte(raw)) {
		got = append(got, text(r))
	}
	for _, group := range []string{"example.com", "cert-manager.io"} { // of cluster-scoped objects
		for _, r := range GuessOf(group, "", []byte(`{"spec":{"ca":{"secretName":"ca"},"secretRef":{"name":"aws","namespace":"ops"}}}`)) {
			got = append(got, text(r))
		}
	}
	want := []string{
		"spec.accessKey Secret shop/s3", "spec.accountRef Account.example.com shop/main",
		"spec.auth[].passwordSecretRef Secret shop/pw", "spec.bigPoolReferences[] BigPool.example.com shop/b", "spec.caSecretName Secret shop/ca", "spec.configMapName ConfigMap shop/cm",
		"spec.credentials.secretRef Secret ops/aws", "spec.nodeRef Node /n1", "spec.poolRef Pool.example.com infra/p",
		"spec.rules.configMap ConfigMap shop/r", "spec.serviceAccountName ServiceAccount shop/runner", "spec.storage.existingClaimName PersistentVolumeClaim shop/data",
		"spec.storage.storageClassName StorageClass.storage.k8s.io /fast", "spec.targetRef Deployment.apps shop/web",
		"spec.valuesFrom[] ConfigMap shop/values", "spec.valuesFrom[] Widget.example.com shop/w", "spec.valuesFrom[] Deployment.apps shop/api",
		"spec.secretRef Secret ops/aws", "spec.ca.secretName Secret cert-manager/ca", "spec.secretRef Secret ops/aws",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestGuessOfPodTemplate: a custom resource may have no pods, such as a suspended JobSet.
func TestGuessOfPodTemplate(t *testing.T) {
	raw := `{"spec":{"jobs":[{"template":{"spec":{"serviceAccountName":"sa","priorityClassName":"low","runtimeClassName":"gvisor","imagePullSecrets":[{"name":"reg"}],
		"resourceClaims":[{"resourceClaimName":"gpu"}],"volumes":[{"persistentVolumeClaim":{"claimName":"data"}}]}}}],
		"storage":{"storageClass":"fast"},"source":{"pvc":{"namespace":"ops","name":"golden"}},"dataSource":{"kind":"PersistentVolumeClaim","name":"old"},"pvcTemplate":{"name":"x"}}}`
	var got []string
	for _, r := range GuessOf("example.com", "shop", []byte(raw)) {
		got = append(got, text(r))
	}
	want := []string{
		"spec.dataSource PersistentVolumeClaim shop/old", "spec.jobs[].template.spec.imagePullSecrets[] Secret shop/reg",
		"spec.jobs[].template.spec.priorityClassName PriorityClass.scheduling.k8s.io /low", "spec.jobs[].template.spec.runtimeClassName RuntimeClass.node.k8s.io /gvisor",
		"spec.jobs[].template.spec.serviceAccountName ServiceAccount shop/sa", "spec.jobs[].template.spec.volumes[].persistentVolumeClaim.claimName PersistentVolumeClaim shop/data",
		"spec.source.pvc PersistentVolumeClaim ops/golden", "spec.storage.storageClass StorageClass.storage.k8s.io /fast",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestAnyJSON: whatever an object has in the fields, nothing fails, and the fields alone say the same.
func TestAnyJSON(t *testing.T) {
	value := rapid.Deferred(func() *rapid.Generator[any] { return drawValue(3) })
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(Kinds()).Draw(t, "kind")
		rule := rapid.SampledFrom(byUser[kind.GroupKind]).Draw(t, "rule")
		var o any = value.Draw(t, "value")
		for _, s := range slices.Backward(stepsOf(rule.Path)) {
			if s.each {
				o = []any{o, value.Draw(t, "entry")}
			}
			o = map[string]any{s.key: o}
		}
		raw, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range Of(kind.GroupKind, "shop", raw) {
			if r.Name == "" && r.Selector == nil || r.Kind == "" {
				t.Fatalf("%+v", r)
			}
		}
		GuessOf("", "shop", raw)
	})
}

func drawValue(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		switch n := rapid.IntRange(0, 5).Draw(t, "type"); {
		case n == 0:
			return nil
		case n == 1:
			return rapid.Float64Range(-5, 5).Draw(t, "number")
		case n == 2 && depth > 0:
			return rapid.SliceOfN(drawValue(depth-1), 0, 2).Draw(t, "list")
		case n >= 3 && depth > 0:
			keys := rapid.SampledFrom([]string{"name", "kind", "apiGroup", "namespace", "optional", "secretName", "matchLabels", "matchExpressions"})
			return rapid.MapOfN(keys, drawValue(depth-1), 0, 3).Draw(t, "mapping")
		default:
			return rapid.SampledFrom([]string{"", "a", "a.b.svc", "apps/v1"}).Draw(t, "text")
		}
	})
}

// TestEphemeralContainers: one that has started needs its environment no longer, while others may be restarted.
func TestEphemeralContainers(t *testing.T) {
	for field, want := range map[string]bool{"containers": false, "ephemeralContainers": true} {
		raw := `{"spec":{"` + field + `":[{"env":[{"valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]}]}}`
		refs := Of(object.Pod.GroupKind, "shop", []byte(raw))
		if len(refs) != 1 || refs[0].Rule(object.Pod.GroupKind).Inexact != want {
			t.Errorf("%s: %v", field, refs)
		}
	}
}
