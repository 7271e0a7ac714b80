package finalizer

// ofWorkloads are finalizers of virtual machines, functions, batch and machine learning.
var ofWorkloads = []Known{
	// KubeVirt.
	{"kubevirt.io/virtualMachineControllerFinalize", Operator, "VirtualMachine", "KubeVirt", "when its instance is gone",
		"a virtual machine that may keep running"},
	{"foregroundDeleteVirtualMachine", Operator, "VirtualMachineInstance", "KubeVirt", "when its pod is gone",
		"a virtual machine that may keep running"},
	{"kubevirt.io/foregroundDeleteVirtualMachine", Operator, "VirtualMachineInstance", "KubeVirt", "when its pod is gone",
		"a virtual machine that may keep running"},
	{"foregroundDeleteKubeVirt", Operator, "KubeVirt", "the operator of KubeVirt", "when KubeVirt is uninstalled",
		"CRDs, webhook configurations and daemons of KubeVirt"},
	{"kubevirt.io/foregroundDeleteKubeVirt", Operator, "KubeVirt", "the operator of KubeVirt", "when KubeVirt is uninstalled",
		"CRDs, webhook configurations and daemons of KubeVirt"},
	{"snapshot.kubevirt.io/snapshot-source-protection", Protection, "VirtualMachine", "KubeVirt", "when no snapshot is being taken of the machine",
		"a running snapshot loses its source"},
	{"snapshot.kubevirt.io/vmsnapshot-protection", Operator, "VirtualMachineSnapshot", "KubeVirt", "when its content is deleted or kept, as its deletion policy says",
		"VirtualMachineSnapshotContents and their VolumeSnapshots"},
	{"snapshot.kubevirt.io/vmsnapshotcontent-protection", Operator, "VirtualMachineSnapshotContent", "KubeVirt", "when its snapshot is gone",
		"VolumeSnapshots that are never deleted"},
	{"cdi.kubevirt.io/dataImportCronFinalizer", Operator, "DataImportCron", "the data importer of KubeVirt", "when the CronJob that looks for new images is deleted",
		"the CronJob in the namespace of CDI, which keeps looking for new images"},
	{"cdi.kubevirt.io/cloneSource", Operator, "PersistentVolumeClaim that a clone is written to", "the data importer of KubeVirt", "when the pod that reads the source is deleted",
		"the pod that reads the source, in another namespace perhaps"},
	{"kubevirt.io/hyperconverged", Operator, "HyperConverged", "the operator of HyperConverged", "when its parts are uninstalled",
		"KubeVirt, its importer and its networks, in an uncontrolled order"},

	// Functions and events.
	{"*.serving.knative.dev", Operator, "Route and other kinds of Knative Serving", "Knative Serving", "when its parts are deleted",
		"ingresses and marks on revisions"},
	{"*.networking.internal.knative.dev", Operator, "Ingress and other internal kinds of Knative", "the network layer of Knative", "when its routes and certificates are deleted",
		"routes and certificates in the namespace of the gateway"},
	{"*.eventing.knative.dev", Operator, "Broker, Trigger", "the broker of Knative Eventing", "when queues and subscriptions of it are deleted",
		"topics, queues and subscriptions of the broker"},
	{"*.messaging.knative.dev", Operator, "Subscription, Channel and other kinds of Knative Messaging", "Knative Eventing", "when its topics and subscriptions are deleted",
		"topics and subscriptions of the channel"},
	{"*.sources.knative.dev", Operator, "sources of Knative Eventing", "the source's controller", "when the sender of the events is deleted",
		"a sender that keeps running"},

	// Scaling and queues.
	{"finalizer.keda.sh", Operator, "ScaledObject, ScaledJob, TriggerAuthentication", "KEDA", "when it has stopped scaling and restored the replicas, if requested",
		"replicas as they were scaled last"},
	{"httpscaledobject.http.keda.sh", Operator, "HTTPScaledObject", "the HTTP add-on of KEDA", "when its ScaledObject is deleted",
		"the ScaledObject, which keeps scaling"},
	{"kueue.x-k8s.io/resource-in-use", Protection, "Workload, ClusterQueue, ResourceFlavor", "Kueue", "when no workload uses it",
		"quota stays reserved, or running workloads lose theirs"},
	{"kueue.x-k8s.io/managed", Operator, "Pod that Kueue admits", "Kueue", "when the pod is counted",
		"quota of a deleted pod"},

	// Batch and learning.
	{"ray.io/rayjob-finalizer", Operator, "RayJob", "KubeRay", "when the job is stopped in the Ray cluster",
		"a job that keeps running in a Ray cluster"},
	{"ray.io/gcs-ft-redis-cleanup-finalizer", Operator, "RayCluster", "KubeRay", "when its data in Redis is deleted",
		"the state of the cluster in Redis"},
	{"flinkdeployments.flink.apache.org/finalizer", Operator, "FlinkDeployment", "the Flink operator", "when the job is cancelled and the cluster is deleted",
		"the order: the job is cut off, and its recovery data may stay"},
	{"inferenceservice.finalizers", Operator, "InferenceService", "KServe", "when its TrainedModels are deleted",
		"TrainedModels of a deleted service"},
	{"trainedmodel.finalizer", Operator, "TrainedModel", "KServe", "when the model is unloaded",
		"a model that stays loaded"},
	{"trainer.kubeflow.org/resource-in-use", Protection, "TrainingRuntime, ClusterTrainingRuntime", "Kubeflow Trainer", "when no TrainJob uses the runtime",
		"TrainJobs name a deleted runtime"},
	{"update-prometheus-metrics", Operator, "Experiment, Trial of Katib", "Katib", "when its metrics are updated",
		"only a number in the metrics"},

	// Chaos.
	{"chaos-mesh/records", Operator, "experiments of Chaos Mesh", "Chaos Mesh", "when the fault is reverted everywhere",
		"the fault, which persists: lost packets, full disks, a wrong clock"},
	{"chaosengine.litmuschaos.io/finalizer", Operator, "ChaosEngine", "Litmus", "when the pods of its experiments are deleted",
		"pods of experiments, which keep running"},
}
