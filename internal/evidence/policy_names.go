package evidence

import (
	authentication "k8s.io/api/authentication/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/cel"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// present is a field that is set but whose value is unknown.
var present = cel.Value{}

// celNames returns the variables of a policy's expressions with the known fields: metadata that a
// deletion does not change.
//
// Upstream: apiserver/pkg/admission/plugin/cel/activation.go evaluationActivation.ResolveName.
func (s *Surroundings) celNames(w Write, r object.Resource) map[string]cel.Value {
	old := celObject(w.Object)
	request := celRequest(w, r)
	if u := s.seen.User; u != nil && w.Ours {
		request.Fields["userInfo"] = celUser(u)
	}
	names := map[string]cel.Value{"oldObject": old, "object": old, "request": request}
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

// celRequest returns the request. Its name is absent if the write is Unnamed.
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

// celUser returns a user. Empty fields are absent.
func celUser(u *authentication.UserInfo) cel.Value {
	fields := map[string]cel.Value{"username": cel.Known(u.Username), "uid": cel.Known(u.UID), "groups": celTexts(u.Groups), "extra": {Kind: cel.Absent}}
	if len(u.Extra) > 0 {
		extra := cel.Value{Kind: cel.Map, Fields: map[string]cel.Value{}}
		for key, texts := range u.Extra {
			extra.Fields[key] = cel.Value{Kind: cel.List, Items: celTexts(texts).Items}
		}
		fields["extra"] = extra
	}
	return cel.Value{Kind: cel.Map, Fields: fields}
}

// celTexts returns a list of strings. It is absent if the list is empty.
func celTexts(texts []string) cel.Value {
	if len(texts) == 0 {
		return cel.Value{Kind: cel.Absent}
	}
	list := cel.Value{Kind: cel.List}
	for _, text := range texts {
		list.Items = append(list.Items, cel.Text(text))
	}
	return list
}

// celObject returns the fields of an object that the snapshot knows and a deletion does not change.
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

// celAnnotations returns the annotations that are known to be set.
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

// open returns a map that may have unknown entries.
func open(fields map[string]cel.Value) cel.Value {
	return cel.Value{Kind: cel.Map, Fields: fields, Open: true}
}
