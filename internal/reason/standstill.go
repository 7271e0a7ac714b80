package reason

// Reasons why a deletion does not progress, in plans and in the findings of stuck.
const (
	NodeNotReady           Code = "NodeNotReady"
	NodeGone               Code = "NodeGone"
	APIServiceUnavailable  Code = "APIServiceUnavailable"
	WebhookUnreachable     Code = "WebhookUnreachable"
	PolicyDenies           Code = "PolicyDenies"
	PolicyUnknown          Code = "PolicyUnknown"
	CollectorNotWorking    Code = "CollectorNotWorking"
	ControllerNotWorking   Code = "ControllerNotWorking"
	CRDCleanupFails        Code = "CRDCleanupFails"
	NamespaceDeletionFails Code = "NamespaceDeletionFails"
	PodNotFinished         Code = "PodNotFinished"
)

// standstill has the meanings that the families Plan and Stuck share.
var standstill = []Meaning{
	{Code: NodeNotReady, Severity: Error, Short: "its kubelet does not report", Long: "The kubelet of the node does not report (Ready is Unknown, or its heartbeat has stopped), so it does not end the pod."},
	{Code: NodeGone, Severity: Error, Short: "its node is gone", Long: "The node of the pod is gone: no kubelet ends the pod, and pod GC has not removed it."},
	{Code: APIServiceUnavailable, Severity: Error, Short: "an aggregated API does not answer", Long: "An aggregated API does not answer: no namespace can be emptied while discovery fails."},
	{Code: WebhookUnreachable, Severity: Error, Short: "a required webhook does not answer", Long: "A webhook must admit a request that its deletion needs, and does not answer."},
	{Code: PolicyDenies, Severity: Error, Short: "an admission policy denies it", Long: "A ValidatingAdmissionPolicy denies a request that its deletion needs. So does the webhook of Crossplane for objects that a Usage names, and that of OpenKruise for objects with its label."},
	{Code: PolicyUnknown, Severity: Warning, Short: "a policy or webhook may refuse it", Long: "A ValidatingAdmissionPolicy, or a webhook that depends on a label, may deny a request that its deletion needs. It could not be evaluated: its expression needs more than a snapshot has, or what it selects was not seen."},
	{Code: CollectorNotWorking, Severity: Error, Short: "the garbage collector does not do its part", Long: "Only the garbage collector holds it, and has not acted for minutes, or kube-controller-manager has given up its lease."},
	{Code: ControllerNotWorking, Severity: Error, Short: "a controller does not do its part", Long: "Only a controller of Kubernetes holds it, and has not acted for minutes, or kube-controller-manager has given up its lease."},
	{Code: CRDCleanupFails, Severity: Error, Short: "its instances cannot be deleted", Long: "The API server says that it cannot delete the instances of the CRD, or has not deleted them for minutes."},
	{Code: NamespaceDeletionFails, Severity: Error, Short: "its content cannot be deleted", Long: "The namespace controller says that it cannot discover or delete the content of the namespace."},
	{Code: PodNotFinished, Severity: Warning, Short: "the kubelet has not ended it", Long: "The grace period of the pod ended minutes ago, and the kubelet has not ended the pod. Its node is not known to be broken."},
}

// Late reports whether a code says that a controller is overdue with a deletion, or fails to finish
// it.
func (c Code) Late() bool {
	switch c {
	case CollectorNotWorking, ControllerNotWorking, CRDCleanupFails, NamespaceDeletionFails, PodNotFinished, DeletionMissed:
		return true
	default:
		return false
	}
}
