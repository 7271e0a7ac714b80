package health

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	jsonv1 "github.com/go-json-experiment/json/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Record is what one object shows in addition to its snapshot. As JSON it is a line of a snapshot
// file. It never contains data, commands or annotations.
type Record struct {
	// APIVersion is the version that was read.
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Namespace  string    `json:"namespace,omitzero"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid,omitzero"`
	Shown
	// Referring is true if Referrers is complete. It is false for a kind without references, and in
	// older files.
	Referring bool `json:"referring,omitzero"`
	// Unread is why the object could not be read completely. It is empty if it was. See also Whole.
	Unread string `json:"unread,omitzero"`
	// Whole is true in a record without a name if a server has listed all objects of the kind in
	// the namespace, or in all namespaces if it is empty. Otherwise Unread says why the list
	// failed.
	Whole bool `json:"whole,omitzero"`
	// Absent is true if the server does not have the object.
	Absent bool `json:"absent,omitzero"`
}

// Part returns the part for a record that describes the completeness of one. It returns false for a
// record of an object.
func (r *Record) Part() (Part, bool) {
	if r.Name != "" {
		return "", false
	}
	return PartOf(r.APIVersion, r.Kind)
}

// Reading returns the record that says how completely a server has listed a part. why is as in
// Mark.
func Reading(p Part, namespace, why string) *Record {
	r := ResourceOf(p)
	return &Record{APIVersion: r.APIVersion(), Kind: r.Kind, Namespace: namespace, Whole: why == "", Unread: why}
}

// Absent returns the record of an object that a server does not have.
func Absent(ref object.Ref) *Record {
	r := recordOf(ref)
	r.Absent = true
	return r
}

// Unreadable returns the record of an object that waits for a controller, or will when it is
// deleted, and could not be read completely. Its part may have been listed nevertheless.
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

// Shown is what some objects show. Most lists have one entry for each object of the part. Webhooks
// has one for each webhook of a configuration.
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
	Referrers      []Referrer      `json:"referrers,omitempty"`
	// Terminating has one entry for each object, of any kind, that is being deleted, or has
	// finalizers that will matter when it is.
	Terminating []Terminating `json:"terminating,omitempty"`
}

// Conditioned has the conditions of an object.
type Conditioned struct {
	Ref        object.Ref  `json:"-"`
	Conditions []Condition `json:"conditions,omitempty"`
}

// Terminating is what an object that is being deleted or has finalizers shows in addition to its
// snapshot.
type Terminating struct {
	Ref object.Ref `json:"-"`
	// Writers are the field managers that own a finalizer, from managedFields.
	Writers []Writer `json:"writers,omitempty"`
	// Conditions are those of the status, if it has them in the usual form.
	Conditions []Condition `json:"conditions,omitempty"`
	// Says has the reason and the message of the status. A PersistentVolume has them instead of
	// conditions, and so has a Challenge of cert-manager.
	Says string `json:"says,omitzero"`
	// Unread is why the object could not be read completely. Its writers and conditions are unknown
	// then.
	Unread string `json:"unread,omitzero"`
	// Users is the number of objects that use it, by its own status.users, as a ProviderConfig has
	// it. 0 if unset.
	Users int `json:"users,omitzero"`
	// Node is the node in status.nodeRef, as a Machine has it. It is empty for others.
	Node string `json:"node,omitzero"`
	// Hooks are the hooks that a Machine waits for before it is deleted.
	Hooks []Hook `json:"hooks,omitempty"`
}

// Read decodes one object from JSON. apiVersion and kind are used if the JSON lacks them. The
// record is never nil. If an error is returned, the record says why the object could not be read.
func Read(apiVersion, kind string, raw []byte) (*Record, error) {
	var b body
	err := decode(raw, &b)
	b.APIVersion, b.Kind = cmp.Or(b.APIVersion, apiVersion), cmp.Or(b.Kind, kind)
	s, isPart := findSource(b.APIVersion, b.Kind)
	if !isPart {
		if s, isPart = findSource(apiVersion, kind); isPart {
			b.APIVersion, b.Kind = apiVersion, kind
		}
	}
	r := recordOf(b.ref())
	if err == nil && b.Metadata.Name == "" {
		err = errors.New("it has no name")
	}
	if err == nil && isPart && !s.referencesOnly {
		err = s.take(&r.Shown, &b, raw)
	}
	if err == nil {
		r.takeReferences(b.controller(), raw)
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

// Missed returns the record of an object without available JSON, with the reason.
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
	if err := jsonv1.Unmarshal(line, r); err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	r.Shown.belongTo(r.Ref())
	return r, nil
}

// belongTo sets the references that a line leaves out because they are those of its object.
func (s *Shown) belongTo(ref object.Ref) {
	lists := reflect.ValueOf(s).Elem()
	for n := range lists.NumField() {
		for i := range lists.Field(n).Len() {
			if field := lists.Field(n).Index(i).FieldByName("Ref"); field.IsValid() {
				field.Set(reflect.ValueOf(ref))
			}
		}
	}
}

// add appends the evidence of more objects.
func (s *Shown) add(more *Shown) {
	all, added := reflect.ValueOf(s).Elem(), reflect.ValueOf(more).Elem()
	for i := range all.NumField() {
		if added.Field(i).Len() > 0 {
			all.Field(i).Set(reflect.AppendSlice(all.Field(i), added.Field(i)))
		}
	}
}

// timestamp is a time in seconds since 1970. An invalid time becomes 0 without an error: a single
// odd entry must not hide the rest.
type timestamp struct{ seconds int64 }

// UnmarshalJSON reads the two forms that Kubernetes writes.
func (s *timestamp) UnmarshalJSON(raw []byte) error {
	var text string
	_ = json.Unmarshal(raw, &text)
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		s.seconds = t.Unix()
	}
	return nil
}
