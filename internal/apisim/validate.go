package apisim

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

var (
	metadata        = field.NewPath("metadata")
	ownersPath      = metadata.Child("ownerReferences")
	finalizersPath  = metadata.Child("finalizers")
	namespaceTokens = field.NewPath("spec", "finalizers")
)

// validateCreate validates a new object.
func validateCreate(v *view, o *object.Object) field.ErrorList {
	var errs field.ErrorList
	if o.Name == "" {
		errs = append(errs, field.Required(metadata.Child("name"), "name or generateName is required"))
	}
	return append(errs, validateLists(v, o)...)
}

// validateUpdate validates next and its differences from old.
func validateUpdate(v *view, old, next *object.Object) field.ErrorList {
	errs := validateLists(v, next)
	if old.BeingDeleted() && !slices.Equal(next.Finalizers(), old.Finalizers()) {
		errs = append(errs, validation.ValidateNoNewFinalizers(next.Finalizers(), old.Finalizers(), finalizersPath)...)
	}
	if next.UID != old.UID {
		errs = append(errs, validation.ValidateImmutableField(next.UID, old.UID, metadata.Child("uid"))...)
	}
	if next.DeletionTimestamp() != old.DeletionTimestamp() {
		errs = append(errs, validation.ValidateImmutableField(metav1.Unix(next.DeletionTimestamp(), 0).UTC(), nil, metadata.Child("deletionTimestamp"))...)
	}
	if grace, had := next.GracePeriod(), old.GracePeriod(); grace != nil && (had == nil || *grace != *had) {
		errs = append(errs, validation.ValidateImmutableField(*grace, had, metadata.Child("deletionGracePeriodSeconds"))...)
	}
	return errs
}

// validateLists validates the owner references and the finalizers as a whole. An invalid entry that
// is already stored therefore makes every later write fail.
//
// Upstream: apimachinery/pkg/api/validation/objectmeta.go ValidateObjectMetaAccessor.
// Rule: spec §2.2, §2.3, S035–S041.
func validateLists(v *view, o *object.Object) field.ErrorList {
	var errs field.ErrorList
	if !ownersAreValid(o.Owners) {
		refs := make([]metav1.OwnerReference, 0, len(o.Owners))
		for _, r := range o.Owners {
			refs = append(refs, metav1.OwnerReference{
				APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID,
				Controller: r.Controller.Bool(), BlockOwnerDeletion: r.BlockOwnerDeletion.Bool(),
			})
		}
		errs = append(errs, validation.ValidateOwnerReferences(refs, ownersPath)...)
	}
	if finalizers := o.Finalizers(); len(finalizers) > 0 {
		errs = append(errs, validation.ValidateFinalizers(finalizers, finalizersPath)...)
		if refusesPlainFinalizers(v) {
			for i, name := range finalizers {
				errs = append(errs, validateStandard(name, finalizersPath.Index(i))...)
			}
		}
	}
	if facts := o.NamespaceFacts(); facts != nil {
		for i, token := range facts.Finalizers {
			errs = append(errs, validation.ValidateFinalizerName(token, namespaceTokens.Index(i))...)
			errs = append(errs, validateStandard(token, namespaceTokens.Index(i))...)
		}
	}
	return errs
}

// ownersAreValid does the same checks as apimachinery's validation, but is cheap: a collector
// patches very many objects. The full validation runs only to build the errors. A property test
// compares the two.
func ownersAreValid(owners []object.OwnerReference) bool {
	controllers := 0
	for i := range owners {
		o := &owners[i]
		group, version := object.SplitAPIVersion(o.APIVersion)
		if version == "" || o.Kind == "" || o.Name == "" || o.UID == "" {
			return false
		}
		if group == "" && version == "v1" && o.Kind == "Event" {
			return false
		}
		if o.Controller == object.True {
			controllers++
		}
	}
	return controllers <= 1
}

// refusesPlainFinalizers reports whether non-standard finalizers without a slash are refused.
// Built-in kinds do that, but not those of the aggregator and of the extensions server.
func refusesPlainFinalizers(v *view) bool {
	return !v.resource.Custom && v.gr.Group != object.CRD.Group && v.gr.Group != object.APIService.Group
}

// validateStandard returns an error for a name without a slash that is not standard.
//
// Upstream: pkg/apis/core/validation/validation.go validateKubeFinalizerName.
// Rule: spec §2.3, S036.
func validateStandard(name string, path *field.Path) field.ErrorList {
	if strings.Contains(name, "/") || isStandard(name) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified")}
}

func isStandard(name string) bool {
	return name == object.NamespaceToken || name == object.Orphan || name == object.Foreground
}

// warnOfFinalizers warns of plain finalizers that are new on a custom resource.
//
// Upstream: apiextensions-apiserver/pkg/registry/customresource/strategy.go WarningsOnCreate,
// WarningsOnUpdate, generateWarningsFromObj.
// Upstream: apiextensions-apiserver/pkg/registry/customresource/validator.go validateKubeFinalizerName.
// Rule: spec §2.3, S036.
func (s *Server) warnOfFinalizers(v *view, old []string, next *object.Object) {
	if !v.resource.Custom {
		return
	}
	for _, name := range next.Finalizers() {
		if !strings.Contains(name, "/") && !isStandard(name) && !slices.Contains(old, name) {
			path := ""
			if strings.Contains(name, ".") {
				path = " including a path (/)"
			}
			s.warn(next.Ref, "metadata.finalizers: "+strconv.Quote(name)+": prefer a domain-qualified finalizer name"+path+
				" to avoid accidental conflicts with other finalizer writers")
		}
	}
}

// dedupOwners drops owner references that equal an earlier one and returns their UIDs, one per
// dropped reference. References that share only the UID stay.
//
// Upstream: apiserver/pkg/endpoints/handlers/rest.go dedupOwnerReferences.
// Rule: spec §2.2, S040.
func dedupOwners(o *object.Object) []string {
	var dups []string
	var kept []object.OwnerReference
	for i, ref := range o.Owners {
		if !slices.Contains(o.Owners[:i], ref) {
			if kept != nil {
				kept = append(kept, ref)
			}
			continue
		}
		if kept == nil {
			kept = slices.Clone(o.Owners[:i])
		}
		dups = append(dups, string(ref.UID))
	}
	if kept != nil {
		o.Owners = kept
	}
	return dups
}

func duplicates(uids []string) string {
	return ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, " +
		"and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " + strings.Join(uids, ", ")
}

func duplicatesAfterAdmission(uids []string) string {
	return ".metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups " +
		"owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: " + strings.Join(uids, ", ")
}
