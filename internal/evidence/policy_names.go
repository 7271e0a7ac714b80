package evidence

import (
	"github.com/kubectl-gc/kubectl-gc/internal/cel"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// present is a field that is set, and whose value is not known.
var present = cel.Value{}

// celNames returns what the expressions of a policy may ask for, as far as it is known: metadata
// that a deletion does not change.
//
// Upstream: apiserver/pkg/admission/plugin/cel/activation.go evaluationActivation.ResolveName.
func (s *Surroundings) celNames(w Write, r object.Resource) map[string]cel.Value {
	old := celObject(w.Object)
	names := map[string]cel.Value{"oldObject": old, "object": old, "request": celRequest(w, r)}
	if w.Operation == Remove {
		names["object"] = cel.Value{Kind: cel.Null}
	}
	switch namespace := s.namespaceOf(w.Object); {
	case namespace != nil:
		names["namespaceObject"] = celObject(namespace)
	case w.Object.Namespace == "":
		names["namespaceObject"] = cel.Value{Kind: cel.Null}
	}
	return names
}

// celRequest returns the request. Its name is not known for what goes with a collection.
//
// Upstream: apiserver/pkg/admission/plugin/cel/condition.go CreateAdmissionRequest.
func celRequest(w Write, r object.Resource) cel.Value {
	fields := map[string]cel.Value{
		"operation": cel.Text(w.Operation),
		"kind":      open(map[string]cel.Value{"group": cel.Text(r.Group), "kind": cel.Text(r.Kind)}),
		"resource":  open(map[string]cel.Value{"group": cel.Text(r.Group), "resource": cel.Text(r.Name)}),
	}
	if w.Object.Namespace != "" {
		fields["namespace"] = cel.Text(w.Object.Namespace)
	}
	if !w.Unnamed {
		fields["name"] = cel.Text(w.Object.Name)
	}
	if w.Subresource != "" {
		fields["subResource"] = cel.Text(w.Subresource)
	}
	return open(fields)
}

// celObject returns an object as far as a snapshot knows it and nothing changes it.
func celObject(o *object.Object) cel.Value {
	labels := map[string]string{}
	for key, value := range o.Labels.All {
		labels[key] = value
	}
	meta := map[string]cel.Value{"name": cel.Text(o.Name), "namespace": cel.Known(o.Namespace), "labels": cel.Set(labels)}
	if o.UID != "" {
		meta["uid"] = cel.Text(string(o.UID))
	}
	if o.BeingDeleted() {
		meta["deletionTimestamp"] = present
	}
	if annotations := celAnnotations(o.Protection()); len(annotations) > 0 {
		meta["annotations"] = open(annotations)
	}
	return open(map[string]cel.Value{"kind": cel.Text(o.Kind), "metadata": open(meta)})
}

// celAnnotations returns those annotations that are known to be set.
func celAnnotations(p object.Protection) map[string]cel.Value {
	set := map[string]cel.Value{}
	if p.Has(object.Protect) {
		set[object.ProtectAnnotation] = present
	}
	if p.Has(object.HelmKeep) {
		set[object.ResourcePolicyAnnotation] = present
	}
	return set
}

// open returns a map that may have more entries.
func open(fields map[string]cel.Value) cel.Value {
	return cel.Value{Kind: cel.Map, Fields: fields, Open: true}
}
