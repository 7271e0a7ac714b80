package reason

// What keeps an object that is being deleted, in a plan as in the findings of stuck.
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

// standstill is said of an object by a plan, and by stuck.
var standstill = []Meaning{
	{Code: NodeNotReady, Severity: Error, Short: "its kubelet does not report", Long: "The kubelet of the pod's node does not report: Ready is Unknown, or its heartbeat has stopped. It does not end the pod."},
	{Code: NodeGone, Severity: Error, Short: "its node is gone", Long: "The node of the pod does not exist: no kubelet ends the pod, and pod GC has not removed it."},
	{Code: APIServiceUnavailable, Severity: Error, Short: "an aggregated API does not answer", Long: "An aggregated API does not answer: no namespace can be emptied as long as discovery fails."},
	{Code: WebhookUnreachable, Severity: Error, Short: "a webhook has to admit it and does not answer", Long: "A webhook has to admit a request without which the object stays, and it does not answer."},
	{Code: PolicyDenies, Severity: Error, Short: "an admission policy denies it", Long: "A ValidatingAdmissionPolicy denies a request without which the object stays. So does the webhook of Crossplane for what a Usage names, and that of OpenKruise for what its label protects."},
	{Code: PolicyUnknown, Severity: Warning, Short: "it is not known whether a policy or webhook refuses it", Long: "A ValidatingAdmissionPolicy, or a webhook that is asked by a label, applies, or may apply, to a request without which the object stays, and what decides could not be evaluated: its expression asks for more than a snapshot has, or what it selects was not seen."},
	{Code: CollectorNotWorking, Severity: Error, Short: "the garbage collector does not do its part", Long: "Only the garbage collector holds the object, and has not done its part for minutes, or kube-controller-manager has given up its lease."},
	{Code: ControllerNotWorking, Severity: Error, Short: "a controller does not do its part", Long: "Only a controller of Kubernetes holds the object, and has not done its part for minutes, or kube-controller-manager has given up its lease."},
	{Code: CRDCleanupFails, Severity: Error, Short: "its instances cannot be deleted", Long: "The API server says that it cannot delete the instances of the CRD, or has not for minutes."},
	{Code: NamespaceDeletionFails, Severity: Error, Short: "its content cannot be deleted", Long: "The namespace controller says that it cannot discover or delete the content of the namespace."},
	{Code: PodNotFinished, Severity: Warning, Short: "the kubelet has not ended it", Long: "The grace period of the pod has been over for minutes, its node is not known to be broken, and the kubelet has not ended it."},
}

// Late reports whether a code says that somebody should have gone on with a deletion
// minutes ago, or fails to.
func (c Code) Late() bool {
	switch c {
	case CollectorNotWorking, ControllerNotWorking, CRDCleanupFails, NamespaceDeletionFails, PodNotFinished, DeletionMissed:
		return true
	default:
		return false
	}
}
