package health

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Condition is a condition of a status.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status,omitzero"`
	Reason  string `json:"reason,omitzero"`
	Message string `json:"message,omitzero"`
	// Since is the time of the last transition, in seconds since 1970. 0 if unknown.
	Since int64 `json:"since,omitzero"`
}

// True reports whether the condition holds.
func (c Condition) True() bool { return c.Status == "True" }

// Find returns the condition of a type. It returns false if there is none.
func Find(list []Condition, typ string) (Condition, bool) {
	for _, c := range list {
		if c.Type == typ {
			return c, true
		}
	}
	return Condition{}, false
}

type condition struct {
	Type    string    `json:"type"`
	Status  string    `json:"status"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Since   timestamp `json:"lastTransitionTime"`
	// Heartbeat is set in the conditions of nodes only.
	Heartbeat timestamp `json:"lastHeartbeatTime"`
}

func conditions(list []condition) []Condition {
	var kept []Condition
	for _, c := range list {
		kept = append(kept, Condition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message, Since: c.Since.seconds})
	}
	return kept
}

type conditioned struct {
	Status struct {
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

func (s *Shown) takeNamespace(b *body, d *conditioned) {
	s.Namespaces = append(s.Namespaces, Conditioned{b.ref(), conditions(d.Status.Conditions)})
}

// heldBody has the fields that are read from an object that is being deleted, or will be held then.
type heldBody struct {
	Metadata struct {
		ManagedFields []managed `json:"managedFields"`
	} `json:"metadata"`
}

// statusBody is the status of any object. The status of a custom resource may have any form.
type statusBody struct {
	Status struct {
		Conditions json.RawMessage `json:"conditions"`
		NodeRef    json.RawMessage `json:"nodeRef"`
		Users      json.RawMessage `json:"users"`
		Reason     json.RawMessage `json:"reason"`
		Message    json.RawMessage `json:"message"`
	} `json:"status"`
}

// joinTexts joins the strings among some JSON values.
func joinTexts(values ...json.RawMessage) string {
	var texts []string
	for _, raw := range values {
		var text string
		if decode(raw, &text) == nil && text != "" {
			texts = append(texts, text)
		}
	}
	return Clip(strings.Join(texts, ": "))
}

// takeTerminating records an object that is being deleted or has finalizers. A custom resource may
// have a status of any form, so fields of an unexpected form are skipped.
func (s *Shown) takeTerminating(b *body, raw []byte) error {
	var held heldBody
	if err := decode(raw, &held); err != nil {
		return err
	}
	var d statusBody
	t := Terminating{Ref: b.ref(), Writers: writers(held.Metadata.ManagedFields), Hooks: hooksOf(b, raw)}
	var list []condition
	if decode(raw, &d) == nil && decode(d.Status.Conditions, &list) == nil {
		t.Conditions = conditions(list)
	}
	if b.Kind != object.Pod.Kind { // a pod says what became of its containers
		t.Says = joinTexts(d.Status.Reason, d.Status.Message)
	}
	var node struct {
		Name string `json:"name"`
	}
	if decode(d.Status.NodeRef, &node) == nil {
		t.Node = node.Name
	}
	var users int
	if decode(d.Status.Users, &users) == nil {
		t.Users = users
	}
	s.Terminating = append(s.Terminating, t)
	return nil
}

// Node is a machine of the cluster.
type Node struct {
	Name  string    `json:"name"`
	Ready Condition `json:"ready,omitzero"`
	// Heartbeat is the time when the kubelet reported the condition last, in seconds since 1970. 0
	// if unknown.
	Heartbeat int64 `json:"heartbeat,omitzero"`
	// Cordoned is true if no new pods are scheduled on the node, as before a drain.
	Cordoned bool `json:"cordoned,omitzero"`
	// OutOfService is true if the node has the taint node.kubernetes.io/out-of-service.
	OutOfService bool `json:"outOfService,omitzero"`
	// Unreported is true if its status was read and has no Ready condition: a kubelet reports it when
	// it registers its node.
	Unreported bool `json:"unreported,omitzero"`
}

// nodeBody has the fields that are read from a Node.
type nodeBody struct {
	Spec struct {
		Unschedulable bool `json:"unschedulable"`
		Taints        []struct {
			Key string `json:"key"`
		} `json:"taints"`
	} `json:"spec"`
	// Status is nil if it was left out. A server always writes some of it.
	Status *struct {
		Conditions []condition `json:"conditions"`
	} `json:"status"`
}

func (s *Shown) takeNode(b *body, d *nodeBody) {
	n := Node{Name: b.Metadata.Name, Cordoned: d.Spec.Unschedulable}
	for _, t := range d.Spec.Taints {
		n.OutOfService = n.OutOfService || t.Key == OutOfServiceTaint
	}
	if d.Status != nil {
		for _, c := range d.Status.Conditions {
			if c.Type == "Ready" {
				n.Ready, n.Heartbeat = conditions([]condition{c})[0], c.Heartbeat.seconds
				break
			}
		}
		n.Unreported = n.Ready.Status == ""
	}
	s.Nodes = append(s.Nodes, n)
}

// Event is a core/v1 or events.k8s.io/v1 event about an object.
type Event struct {
	About   object.Ref `json:"about"`
	Warning bool       `json:"warning,omitzero"`
	Reason  string     `json:"reason,omitzero"`
	Note    string     `json:"note,omitzero"`
	From    string     `json:"from,omitzero"`
	// Last is the time of the last occurrence, in seconds since 1970. 0 if unknown.
	Last int64 `json:"last,omitzero"`
}

// eventBody is an event of either API group.
type eventBody struct {
	Metadata struct {
		Created timestamp `json:"creationTimestamp"`
	} `json:"metadata"`
	Involved  object.Ref `json:"involvedObject"`
	Regarding object.Ref `json:"regarding"`
	Type      string     `json:"type"`
	Reason    string     `json:"reason"`
	Message   string     `json:"message"`
	Note      string     `json:"note"`
	Last      timestamp  `json:"lastTimestamp"`
	OldLast   timestamp  `json:"deprecatedLastTimestamp"`
	At        timestamp  `json:"eventTime"`
	Series    struct {
		Last timestamp `json:"lastObservedTime"`
	} `json:"series"`
	Source struct {
		Component string `json:"component"`
	} `json:"source"`
	From string `json:"reportingComponent"`
	By   string `json:"reportingController"`
}

// takeEvent adds an event of either API group.
func (s *Shown) takeEvent(_ *body, d *eventBody) {
	about := d.Involved
	if about.Kind == "" {
		about = d.Regarding
	}
	s.Events = append(s.Events, Event{
		About: about, Warning: d.Type == "Warning", Reason: d.Reason, Note: d.Message + d.Note,
		From: cmp.Or(d.By, d.From, d.Source.Component),
		Last: cmp.Or(d.Series.Last, d.Last, d.OldLast, d.At, d.Metadata.Created).seconds,
	})
}
