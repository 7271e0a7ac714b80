package report

import "github.com/kubectl-gc/kubectl-gc/internal/object"

// Risk ranks objects by what a delete of each alone would delete.
type Risk struct {
	Header

	Source Source `json:"source"`
	// Policy is that of the deletes: "Background".
	Policy string `json:"policy"`
	// Objects is the number of objects that were compared.
	Objects int `json:"objects"`
	// Items is a sequence: the greatest toll first. Objects that are not known to take
	// others are left out.
	Items []RiskItem `json:"items"`
	// Untried counts the objects that may have a greater toll than the last item, and were not
	// tried because that would take too long.
	Untried int `json:"untried,omitempty"`
	// OthersUnknown counts the objects that have been tried and are not among Items, and may belong to them: an
	// outcome of their delete is unknown.
	OthersUnknown int `json:"othersUnknown,omitempty"`
	// Complete is false if something was not seen, or not tried.
	Complete bool  `json:"complete"`
	Gaps     []Gap `json:"gaps"`
}

// RiskItem is one object and the toll of its delete.
type RiskItem struct {
	Object object.Ref `json:"object"`
	Takes  Toll       `json:"takes"`
	// ByKind has the toll by kind.
	ByKind []KindCount `json:"byKind"`
	// Later counts the objects that are deleted only once finalizers are removed.
	Later int `json:"later,omitempty"`
	// Blocked counts the objects that would stay Terminating, Unknown those with an unknown
	// outcome.
	Blocked int `json:"blocked,omitempty"`
	Unknown int `json:"unknown,omitempty"`
}

// Toll counts the objects that a delete would delete, the target included.
type Toll struct {
	Objects int `json:"objects"`
	// Data counts PersistentVolumeClaims, PersistentVolumes, Secrets, and custom resources that own
	// one of these or a StatefulSet, directly or through others, or that have a finalizer known to
	// protect storage.
	Data int `json:"data"`
	// Workloads counts Pods and the objects that create Pods.
	Workloads int `json:"workloads"`
	// Rest counts everything else.
	Rest int `json:"rest"`
}

// KindCount is the number of objects of one kind.
type KindCount struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Count      int    `json:"count"`
}
