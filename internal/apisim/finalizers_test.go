package apisim

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func policy(p metav1.DeletionPropagation) metav1.DeleteOptions {
	return metav1.DeleteOptions{PropagationPolicy: &p}
}

func orphanDependents(yes bool) metav1.DeleteOptions {
	return metav1.DeleteOptions{OrphanDependents: &yes}
}

// The table of worked results, spec §2.7. An empty cell is an object that is deleted at once.
func TestGCFinalizers(t *testing.T) {
	none := metav1.DeleteOptions{}
	columns := []struct {
		name    string
		options []metav1.DeleteOptions
		def     Default
	}{
		{"no policy, background default", []metav1.DeleteOptions{none}, BackgroundDefault},
		{"no policy, orphan default", []metav1.DeleteOptions{none}, OrphanDefault},
		{"background", []metav1.DeleteOptions{policy(metav1.DeletePropagationBackground), orphanDependents(false)}, OrphanDefault},
		{"foreground", []metav1.DeleteOptions{policy(metav1.DeletePropagationForeground)}, OrphanDefault},
		{"orphan", []metav1.DeleteOptions{policy(metav1.DeletePropagationOrphan), orphanDependents(true)}, BackgroundDefault},
		{"unsupported", []metav1.DeleteOptions{none, policy(metav1.DeletePropagationOrphan), policy(metav1.DeletePropagationForeground), orphanDependents(true)}, UnsupportedDefault},
	}
	rows := []struct {
		existing string
		want     [6]string
	}{
		{"", [6]string{"", "orphan", "", "foregroundDeletion", "orphan", ""}},
		{"orphan", [6]string{"orphan", "orphan", "", "foregroundDeletion", "orphan", ""}},
		{"foregroundDeletion", [6]string{"foregroundDeletion", "foregroundDeletion", "", "foregroundDeletion", "orphan", ""}},
		{"a/x b/y", [6]string{"a/x b/y", "a/x b/y orphan", "a/x b/y", "a/x b/y foregroundDeletion", "a/x b/y orphan", "a/x b/y"}},
		{"a/x orphan b/y", [6]string{"a/x orphan b/y", "a/x orphan b/y", "a/x b/y", "a/x b/y foregroundDeletion", "a/x orphan b/y", "a/x b/y"}},
		{"foregroundDeletion a/x orphan", [6]string{"a/x foregroundDeletion", "a/x foregroundDeletion", "a/x", "a/x foregroundDeletion", "a/x orphan", "a/x"}},
		{"orphan foregroundDeletion", [6]string{"orphan", "orphan", "", "foregroundDeletion", "orphan", ""}},
		{"orphan orphan", [6]string{"orphan orphan", "orphan orphan", "", "foregroundDeletion", "orphan orphan", ""}},
	}
	for _, row := range rows {
		for i, column := range columns {
			for _, options := range column.options {
				existing := strings.Fields(row.existing)
				before := slices.Clone(existing)
				got, changed := GCFinalizers(existing, options, column.def)
				if diff := cmp.Diff(row.want[i], strings.Join(got, " ")); diff != "" {
					t.Errorf("%q with %s (-want +got):\n%s", row.existing, column.name, diff)
				}
				if want := row.want[i] != row.existing; changed != want {
					t.Errorf("%q with %s: changed = %t, want %t", row.existing, column.name, changed, want)
				}
				if !slices.Equal(before, existing) {
					t.Errorf("%q with %s: the existing list was changed to %q", row.existing, column.name, existing)
				}
			}
		}
	}
}

func TestDefaultFor(t *testing.T) {
	tests := []struct {
		group, resource, version string
		want                     Default
	}{
		{"", "replicationcontrollers", "v1", OrphanDefault},
		{"batch", "jobs", "v1", OrphanDefault},
		{"batch", "cronjobs", "v1beta1", OrphanDefault},
		{"batch", "cronjobs", "v2alpha1", OrphanDefault},
		{"batch", "cronjobs", "v1", BackgroundDefault},
		{"extensions", "deployments", "v1beta1", OrphanDefault},
		{"extensions", "ingresses", "v1beta1", BackgroundDefault},
		{"apps", "statefulsets", "v1beta1", OrphanDefault},
		{"apps", "daemonsets", "v1beta2", OrphanDefault},
		{"apps", "deployments", "v1", BackgroundDefault},
		{"", "events", "v1", UnsupportedDefault},
		{"events.k8s.io", "events", "v1", UnsupportedDefault},
		{"example.com", "events", "v1", BackgroundDefault},
		{"example.com", "jobs", "v1", BackgroundDefault},
		{"", "configmaps", "v1", BackgroundDefault},
	}
	for _, tt := range tests {
		got := DefaultFor(schema.GroupResource{Group: tt.group, Resource: tt.resource}, tt.version)
		if got != tt.want {
			t.Errorf("%s/%s %s: got %d, want %d", tt.group, tt.resource, tt.version, got, tt.want)
		}
	}
}
