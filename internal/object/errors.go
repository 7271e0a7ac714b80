package object

import "fmt"

// UnknownKindError says that an apiVersion and kind do not map to a served resource. The collector
// retries such a reference forever and keeps the object. (spec §3.11, Q6)
type UnknownKindError struct {
	APIVersion string
	Kind       string
}

// Error returns the kind.
func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("no resource is served for apiVersion %q, kind %q", e.APIVersion, e.Kind)
}

// UncoveredError says that the snapshot doesn't cover the resource and namespace of the requested
// object: it may or may not exist. It is never proof of absence.
type UncoveredError struct {
	Ref Ref
	// Why is the reason of the gap, for people; "" if unknown.
	Why string
}

// Error returns the object and the gap.
func (e *UncoveredError) Error() string {
	if e.Why == "" {
		return fmt.Sprintf("%s: not covered by the snapshot", e.Ref)
	}
	return fmt.Sprintf("%s: not covered by the snapshot: %s", e.Ref, e.Why)
}

// NamespaceRequiredError says that an object of a namespaced kind was requested without a
// namespace: a cluster-scoped dependent refers to a namespaced owner. The collector drops the
// attempt without a request and without a retry. (Q3, Q5)
type NamespaceRequiredError struct {
	Ref Ref
}

// Error returns the reference.
func (e *NamespaceRequiredError) Error() string {
	return fmt.Sprintf("%s: a cluster-scoped object cannot refer to a namespaced owner", e.Ref)
}
