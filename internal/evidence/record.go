package evidence

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Record is what one object shows beside what a snapshot keeps of it. As JSON it is a line of a
// file that a snapshot is written to. Data, commands and annotations are not in it.
type Record struct {
	// APIVersion is the version in which the object was read.
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Namespace  string    `json:"namespace,omitzero"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid,omitzero"`
	Shown
	// Unread is why the object could not be read whole; empty if it was. See also Whole.
	Unread string `json:"unread,omitzero"`
	// Whole is true in a record without a name if a server has listed all objects of the kind in the
	// namespace, or in all namespaces if it is empty. Otherwise Unread says why the list failed.
	Whole bool `json:"whole,omitzero"`
	// Absent tells that a server has no such object.
	Absent bool `json:"absent,omitzero"`
}

// Part returns the part about which a record says how far a server has listed it; false for a record
// of an object.
func (r *Record) Part() (Part, bool) {
	if r.Name != "" {
		return "", false
	}
	return PartOf(r.APIVersion, r.Kind)
}

// Reading is the record of how far a server has listed a part: why is what Mark takes.
func Reading(p Part, namespace, why string) *Record {
	r := ResourceOf(p)
	return &Record{APIVersion: r.APIVersion(), Kind: r.Kind, Namespace: namespace, Whole: why == "", Unread: why}
}

// Absent is the record of an object that a server does not have.
func Absent(ref object.Ref) *Record {
	r := recordOf(ref)
	r.Absent = true
	return r
}

// Unreadable is the record of an object that waits for somebody, or will when it is deleted, and could
// not be read whole. Its part may have been listed all the same.
func Unreadable(ref object.Ref, why string) *Record {
	r := recordOf(ref)
	r.Terminating = []Terminating{{Ref: ref, Unread: why}}
	return r
}

// Ref returns the reference to the object.
func (r *Record) Ref() object.Ref {
	return object.Ref{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, UID: r.UID}
}

func recordOf(ref object.Ref) *Record {
	return &Record{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, UID: ref.UID}
}

// Shown is what some objects show. The lists of the parts have one entry for each object of the
// part, Webhooks one for each webhook of a configuration.
type Shown struct {
	Namespaces  []Conditioned `json:"namespaces,omitempty"`
	Definitions []Definition  `json:"definitions,omitempty"`
	Nodes       []Node        `json:"nodes,omitempty"`
	Pods        []Pod         `json:"pods,omitempty"`
	Services    []Service     `json:"services,omitempty"`
	Backends    []Backend     `json:"backends,omitempty"`
	Workloads   []Workload    `json:"workloads,omitempty"`
	Roles       []Role        `json:"roles,omitempty"`
	Bindings    []Binding     `json:"bindings,omitempty"`
	Leases      []Lease       `json:"leases,omitempty"`
	APIServices []APIService  `json:"apiServices,omitempty"`
	Webhooks    []Webhook     `json:"webhooks,omitempty"`
	Policies    []Policy      `json:"policies,omitempty"`
	// PolicyBindings are the bindings of Policies.
	PolicyBindings []PolicyBinding `json:"policyBindings,omitempty"`
	Attachments    []Attachment    `json:"attachments,omitempty"`
	Budgets        []Budget        `json:"budgets,omitempty"`
	Usages         []InUse         `json:"usages,omitempty"`
	Consumers      []Consumer      `json:"consumers,omitempty"`
	Events         []Event         `json:"events,omitempty"`
	// Terminating has one entry for each object, of whatever kind, that is being deleted, or has
	// finalizers that will matter when it is.
	Terminating []Terminating `json:"terminating,omitempty"`
}

// Conditioned is an object of which only the conditions are kept.
type Conditioned struct {
	Ref        object.Ref  `json:"-"`
	Conditions []Condition `json:"conditions,omitempty"`
}

// Terminating is what an object that is being deleted, or will be held by a finalizer
// then, shows beside what a snapshot keeps.
type Terminating struct {
	Ref object.Ref `json:"-"`
	// Writers are those who own a finalizer, from managedFields.
	Writers []Writer `json:"writers,omitempty"`
	// Conditions of the status, as far as it has them in the usual form.
	Conditions []Condition `json:"conditions,omitempty"`
	// Unread is why the object could not be read whole; its writers and conditions
	// are not known then.
	Unread string `json:"unread,omitzero"`
	// Users is how many objects use it by its own account, as a ProviderConfig counts in
	// status.users; 0 where it does not.
	Users int `json:"users,omitzero"`
	// Node is the node that status.nodeRef names, as a Machine has it; empty for others.
	Node string `json:"node,omitzero"`
}

// Read reads what one object shows, given as JSON. The kind is needed where the JSON does not say
// it. The record is there even if an error is returned: it says why the object could not be read.
func Read(apiVersion, kind string, raw []byte) (*Record, error) {
	var b body
	err := decode(raw, &b)
	if b.APIVersion == "" {
		b.APIVersion = apiVersion
	}
	if b.Kind == "" {
		b.Kind = kind
	}
	s, isPart := sourceOf(b.APIVersion, b.Kind)
	if !isPart {
		if s, isPart = sourceOf(apiVersion, kind); isPart {
			b.APIVersion, b.Kind = apiVersion, kind
		}
	}
	r := recordOf(b.ref())
	if err == nil && b.Metadata.Name == "" {
		err = errors.New("it has no name")
	}
	if err == nil && isPart {
		err = s.take(&r.Shown, &b, raw)
	}
	if err == nil && (b.Metadata.DeletionTimestamp != nil || len(b.Metadata.Finalizers) > 0) {
		err = r.takeTerminating(&b, raw)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", r.Ref(), err)
		r.Unread = "an object could not be read: " + err.Error()
	}
	return r, err
}

// Missed is the record of an object of which no text could be had, and why.
func Missed(o *object.Object, why string) *Record {
	r := recordOf(o.Ref)
	r.Unread = why
	if o.BeingDeleted() {
		r.Terminating = append(r.Terminating, Terminating{Ref: o.Ref, Unread: why})
	}
	return r
}

// Line returns the record as JSON without a line break.
func (r *Record) Line() ([]byte, error) { return json.Marshal(r) }

// ParseLine reads a record that Line returned.
func ParseLine(line []byte) (*Record, error) {
	r := &Record{}
	if err := json.Unmarshal(line, r); err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	r.Shown.belongTo(r.Ref())
	return r, nil
}

// belongTo sets the references that a line leaves out, since they are those of its object.
func (s *Shown) belongTo(ref object.Ref) {
	for i := range s.Namespaces {
		s.Namespaces[i].Ref = ref
	}
	for i := range s.Definitions {
		s.Definitions[i].Ref = ref
	}
	for i := range s.Pods {
		s.Pods[i].Ref = ref
	}
	for i := range s.Workloads {
		s.Workloads[i].Ref = ref
	}
	for i := range s.Roles {
		s.Roles[i].Ref = ref
	}
	for i := range s.Bindings {
		s.Bindings[i].Ref = ref
	}
	for i := range s.Policies {
		s.Policies[i].Ref = ref
	}
	for i := range s.PolicyBindings {
		s.PolicyBindings[i].Ref = ref
	}
	for i := range s.Attachments {
		s.Attachments[i].Ref = ref
	}
	for i := range s.Budgets {
		s.Budgets[i].Ref = ref
	}
	for i := range s.Usages {
		s.Usages[i].Ref = ref
	}
	for i := range s.Consumers {
		s.Consumers[i].Ref = ref
	}
	for i := range s.Terminating {
		s.Terminating[i].Ref = ref
	}
}

// add appends what other objects show.
func (s *Shown) add(more *Shown) {
	s.Namespaces = append(s.Namespaces, more.Namespaces...)
	s.Definitions = append(s.Definitions, more.Definitions...)
	s.Nodes = append(s.Nodes, more.Nodes...)
	s.Pods = append(s.Pods, more.Pods...)
	s.Services = append(s.Services, more.Services...)
	s.Backends = append(s.Backends, more.Backends...)
	s.Workloads = append(s.Workloads, more.Workloads...)
	s.Roles = append(s.Roles, more.Roles...)
	s.Bindings = append(s.Bindings, more.Bindings...)
	s.Leases = append(s.Leases, more.Leases...)
	s.APIServices = append(s.APIServices, more.APIServices...)
	s.Webhooks = append(s.Webhooks, more.Webhooks...)
	s.Policies = append(s.Policies, more.Policies...)
	s.PolicyBindings = append(s.PolicyBindings, more.PolicyBindings...)
	s.Attachments = append(s.Attachments, more.Attachments...)
	s.Budgets = append(s.Budgets, more.Budgets...)
	s.Usages = append(s.Usages, more.Usages...)
	s.Consumers = append(s.Consumers, more.Consumers...)
	s.Events = append(s.Events, more.Events...)
	s.Terminating = append(s.Terminating, more.Terminating...)
}
