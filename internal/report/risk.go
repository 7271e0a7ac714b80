package report

// Risk ranks objects by what their single delete would take.
type Risk struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Source     Source `json:"source"`
	// Policy is that of the deletes: "Background".
	Policy string `json:"policy"`
	// Objects is the number of objects that were compared.
	Objects int `json:"objects"`
	// Items is a sequence: the greatest toll first. An object that takes nothing but
	// itself is not among them.
	Items []RiskItem `json:"items"`
	// Untried counts the objects whose delete may take more than the last of the items
	// and was not tried, since that would take too long.
	Untried int `json:"untried,omitempty"`
	// Complete is false when something was not seen, or not tried.
	Complete bool  `json:"complete"`
	Gaps     []Gap `json:"gaps"`
}

// RiskItem is one object and what its delete would take.
type RiskItem struct {
	Object Ref  `json:"object"`
	Takes  Toll `json:"takes"`
	// ByKind counts what it takes by kind.
	ByKind []KindCount `json:"byKind"`
	// Later counts those of them that go only when finalizers are removed.
	Later int `json:"later,omitempty"`
	// Blocked counts what would be terminating for good, Unknown what may go or not.
	Blocked int `json:"blocked,omitempty"`
	Unknown int `json:"unknown,omitempty"`
}

// Toll counts what a delete takes, the object itself included.
type Toll struct {
	Objects int `json:"objects"`
	// Data are PersistentVolumeClaims, PersistentVolumes, Secrets, and the custom resources
	// that own such or a StatefulSet, be it through others, or have a finalizer that is
	// known to stand for storage.
	Data int `json:"data"`
	// Workloads are Pods and what makes them.
	Workloads int `json:"workloads"`
	// Rest is everything else.
	Rest int `json:"rest"`
}

// KindCount is the number of objects of one kind.
type KindCount struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Count      int    `json:"count"`
}
