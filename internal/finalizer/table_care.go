package finalizer

// ofCare are finalizers of secrets, of policies, and of monitoring.
var ofCare = []Known{
	// Certificates and secrets.
	{"finalizer.acme.cert-manager.io", Operator, "Challenge", "cert-manager", "when the solver and its DNS record are gone",
		"the DNS record or the pod of the challenge"},
	{"acme.cert-manager.io/finalizer", Operator, "Challenge", "cert-manager", "when the solver and its DNS record are gone",
		"the DNS record or the pod of the challenge"},
	{"externalsecrets.external-secrets.io/externalsecret-cleanup", Operator, "ExternalSecret", "the External Secrets operator", "when the Secrets that it manages are cleaned up",
		"Secrets that are not kept up to date"},
	{"secretstore.externalsecrets.io/finalizer", Protection, "SecretStore, ClusterSecretStore", "the External Secrets operator", "when no PushSecret with the deletion policy Delete uses the store",
		"pushed secrets that cannot be deleted at the provider"},
	{"pushsecret.externalsecrets.io/finalizer", Cloud, "PushSecret", "the External Secrets operator", "when what it pushed is deleted at the provider",
		"secrets at the provider"},
	{"*.secrets.hashicorp.com/finalizer", Operator, "kinds of the Vault Secrets operator", "the Vault Secrets operator", "when leases are revoked, if requested, and its caches are cleared",
		"leases in Vault, until they run out"},
	{"pushsecret.secrets.infisical.com/finalizer", Cloud, "InfisicalPushSecret", "the Infisical operator", "when what it pushed is deleted in Infisical, if requested",
		"secrets in Infisical"},
	{"onepassword.com/finalizer.secret", Operator, "OnePasswordItem, Deployment", "the 1Password operator", "when the Secret made from the item is deleted",
		"the Secret with a copy of the item"},
	{"resources.teleport.dev/deletion", Operator, "kinds of Teleport", "the Teleport operator", "when the external resource is deleted in Teleport",
		"roles, users and connectors in Teleport, which stay in force"},

	// Policies.
	{"kyverno.io/policywebhooks", Operator, "objects of Kyverno's own installation", "Kyverno", "when its webhook configurations are deleted",
		"webhook configurations without a server, so that requests are refused"},
	{"kyverno.io/ttlwebhooks", Operator, "objects of Kyverno's own installation", "Kyverno", "when its webhook configurations are deleted",
		"webhook configurations without a server, so that requests are refused"},
	{"kyverno.io/exceptionwebhooks", Operator, "objects of Kyverno's own installation", "Kyverno", "when its webhook configurations are deleted",
		"webhook configurations without a server, so that requests are refused"},
	{"finalizers.gatekeeper.sh/*", Operator, "constraints and configuration of Gatekeeper, objects that it syncs", "Gatekeeper", "when it has forgotten the object",
		"what Gatekeeper has in memory, until it restarts"},
	{"in-use-by-active-pods", Protection, "SeccompProfile, SelinuxProfile, AppArmorProfile", "the Security Profiles operator", "when no pod uses the profile",
		"pods that cannot be started again without the profile"},

	// Monitoring.
	{"monitoring.coreos.com/status-cleanup", Operator, "Prometheus, PrometheusAgent, Alertmanager and others", "the Prometheus operator", "when monitors and rules do not name it in their status",
		"entries for it in the status of monitors and rules"},
	{"operator.grafana.com/finalizer", Operator, "GrafanaDashboard, GrafanaFolder and other kinds of Grafana", "the Grafana operator", "when it is deleted in Grafana",
		"dashboards, folders and data sources in Grafana"},
	{"apps.victoriametrics.com/finalizer", Operator, "kinds of VictoriaMetrics, and their parts", "the VictoriaMetrics operator", "when its parts are deleted",
		"workloads, Services and roles of it"},
	{"opentelemetrycollector.opentelemetry.io/finalizer", Operator, "OpenTelemetryCollector", "the OpenTelemetry operator", "when cluster-wide roles are deleted",
		"cluster-wide roles"},
	{"finalizer.agent.datadoghq.com", Operator, "DatadogAgent", "the Datadog operator", "when roles and other objects of the agents are deleted",
		"cluster-wide roles and webhook configurations"},
	{"finalizer.monitor.datadoghq.com", Cloud, "DatadogMonitor", "the Datadog operator", "when the monitor is deleted at Datadog",
		"the monitor at Datadog, which keeps alerting"},
}
