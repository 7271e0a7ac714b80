package finalizer

// ofDelivery are finalizers of continuous delivery, of pipelines, and of
// infrastructure as code.
var ofDelivery = []Known{
	// Argo.
	{"resources-finalizer.argocd.argoproj.io*", Operator, "Application, AppProject", "Argo CD", "when what the application has deployed is deleted",
		"everything that the application has deployed"},
	{"pre-delete-finalizer.argocd.argoproj.io*", Operator, "Application", "Argo CD", "when the hooks for before the deletion have run",
		"what the hooks were to do, and what is left of them"},
	{"post-delete-finalizer.argocd.argoproj.io*", Operator, "Application", "Argo CD", "when the hooks for after the deletion have run",
		"what the hooks were to do, and what is left of them"},
	{"argoproj.io/finalizer", Operator, "ArgoCD", "the operator of Argo CD", "when what is valid in the whole cluster is deleted",
		"roles of Argo CD, and namespaces that stay marked as managed by it"},
	{"workflows.argoproj.io/artifact-gc", Operator, "Workflow", "Argo Workflows", "when its artifacts are deleted",
		"artifacts in the object store"},
	{"workflows.argoproj.io/status", Operator, "Pod of a Workflow", "Argo Workflows", "when the result of the pod is recorded",
		"the result of a step, which then counts as failed"},
	{"eventbus-controller", Operator, "EventBus", "Argo Events", "when nothing uses the bus and its parts are deleted",
		"event sources and sensors without a bus"},
	{"eventsource-controller", Operator, "EventSource", "Argo Events", "when it is noted that the source is gone",
		"nothing that outlives the object"},
	{"sensor-controller", Operator, "Sensor", "Argo Events", "when it is noted that the sensor is gone",
		"nothing that outlives the object"},

	// Flux and its relatives.
	{"finalizers.fluxcd.io", Operator, "kinds of Flux", "Flux", "when what it has applied is pruned",
		"what it has applied"},
	{"finalizers.tf.contrib.fluxcd.io", Cloud, "Terraform of the tofu controller", "the tofu controller", "when what it created is destroyed, if requested, and the state is cleaned up",
		"what Terraform created, and its state"},
	{"finalizer.flagger.app", Operator, "Canary", "Flagger", "when routing and replicas are as before",
		"routing of a deleted canary"},

	// Tekton.
	{"chains.tekton.dev*", Operator, "PipelineRun, TaskRun", "Tekton Chains", "when the run is signed",
		"only an unsigned run"},
	{"results.tekton.dev/*", Operator, "PipelineRun, TaskRun", "Tekton Results", "when the run is recorded",
		"the record of the run and its logs"},
	{"tektoninstallersets.operator.tekton.dev", Operator, "TektonInstallerSet", "the Tekton operator", "when the installed objects are deleted",
		"parts of Tekton, in an uncontrolled order"},

	// Others that deploy.
	{"kargo.akuity.io/finalizer", Operator, "Project, Stage and other kinds of Kargo", "Kargo", "when it has cleaned up",
		"approvals and marks of a deleted Stage"},
	{"finalizers.kapp-ctrl.k14s.io/delete", Operator, "App, PackageInstall", "kapp-controller", "when the deployed objects are deleted",
		"everything that the app deployed"},
	{"configsync.gke.io/reconciler", Operator, "RootSync, RepoSync", "Config Sync", "when what it has applied is deleted",
		"what it has applied"},
	{"app.oam.dev/resource-tracker-finalizer", Operator, "Application of KubeVela", "KubeVela", "when what the application has deployed is deleted",
		"what the application has deployed, in other clusters too"},
	{"rollouts.kruise.io/rollout", Operator, "Rollout of OpenKruise", "Kruise Rollouts", "when traffic and workload are as before",
		"a workload that stays paused, and routes of a canary"},
	{"fleet.cattle.io/gitrepo-finalizer", Operator, "GitRepo", "Fleet", "when its Bundles are deleted",
		"Bundles, and what they have deployed"},
	{"fleet.cattle.io/bundle-finalizer", Operator, "Bundle", "Fleet", "when its BundleDeployments are deleted",
		"BundleDeployments, and what they have deployed"},
	{"fleet.cattle.io/bundle-deployment-finalizer", Operator, "BundleDeployment", "Fleet", "when its content is released",
		"unused Contents"},

	// Infrastructure as code.
	{"*.app.terraform.io/finalizer", Cloud, "Workspace, Module, Project, AgentPool of HCP Terraform", "the operator of HCP Terraform", "when the external resource is deleted or kept, as its deletion policy says",
		"workspaces in HCP Terraform, and what they created"},
	{"configuration.finalizers.terraform-controller", Cloud, "Configuration of KubeVela's Terraform", "the Terraform controller of KubeVela", "when what it created is destroyed",
		"what Terraform created, and its state"},
	{"finalizer.tf.galleybytes.com/finalizer", Cloud, "Terraform of GalleyBytes", "the Terraform operator of GalleyBytes", "when what it created is destroyed",
		"what Terraform created, and its state"},
	{"finalizer.stack.pulumi.com", Cloud, "Stack", "the Pulumi operator", "when the stack is destroyed, if requested",
		"what Pulumi created, and its state"},

	// Runners.
	{"autoscalingrunnerset.actions.github.com/finalizer", Operator, "AutoscalingRunnerSet", "Actions Runner Controller", "when listener, runners and the scale set at GitHub are deleted",
		"the scale set at GitHub, and runners without an owner"},
	{"autoscalinglistener.actions.github.com/finalizer", Operator, "AutoscalingListener", "Actions Runner Controller", "when the listener's pod and its permissions are deleted",
		"a pod that keeps listening, and roles in the namespace of the runners"},
	{"ephemeralrunner.actions.github.com/finalizer", Operator, "EphemeralRunner, EphemeralRunnerSet", "Actions Runner Controller", "when pods and Secrets of the runners are deleted",
		"pods of runners, in the middle of a job"},
	{"ephemeralrunner.actions.github.com/runner-registration-finalizer", Operator, "EphemeralRunner", "Actions Runner Controller", "when the runner is removed at GitHub",
		"a runner that stays registered at GitHub"},
	{"actions.github.com/cleanup-protection", Protection, "Secret, ServiceAccount, Role, RoleBinding of a scale set", "Actions Runner Controller", "when the AutoscalingRunnerSet that uses it is gone",
		"runners that cannot be removed at GitHub any more"},
	{"runner.actions.summerwind.dev", Operator, "Runner", "Actions Runner Controller (legacy)", "when the runner is removed at GitHub",
		"a runner that stays registered at GitHub"},
	{"finalizer.gitlab.com", Operator, "Runner of GitLab", "the GitLab Runner operator", "when it has cleaned up after the runner",
		"a runner that may stay registered at GitLab"},
}

// ofFrameworks are finalizers that a framework adds to the objects of its operators.
var ofFrameworks = []Known{
	{"helm.sdk.operatorframework.io/uninstall-release", Operator, "kinds of operators made from Helm charts", "the operator made from a chart", "when the release is uninstalled",
		"everything that the chart installed"},
	{"uninstall-helm-release", Operator, "kinds of operators made from Helm charts", "the operator made from a chart (legacy)", "when the release is uninstalled",
		"everything that the chart installed"},
	{"kopf.zalando.org/KopfFinalizerMarker", Operator, "kinds of operators made with Kopf", "the operator made with Kopf", "when its handlers for the deletion have run",
		"what the handlers clean up"},
	{"metacontroller.io/compositecontroller-*", Operator, "kinds of a CompositeController", "Metacontroller", "when its finalize hook is done",
		"what the hook cleans up"},
	{"metacontroller.io/decoratorcontroller-*", Operator, "kinds of a DecoratorController", "Metacontroller", "when its finalize hook is done",
		"what the hook cleans up"},
	{"kro.run/finalizer", Operator, "instances of a ResourceGraphDefinition", "kro", "when the parts of the instance are deleted, in order",
		"all parts of the instance"},
	{"operatorkit.giantswarm.io/*", Operator, "kinds of Giant Swarm", "the operator of Giant Swarm that is named in it", "when it has cleaned up",
		"what the operator cleans up"},
}
