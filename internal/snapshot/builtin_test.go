package snapshot

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestBuiltinResources(t *testing.T) {
	rs := BuiltinResources()
	if n := len(rs.All()); n != 72 {
		t.Errorf("%d resources, want 72", n)
	}
	hpa := schema.GroupResource{Group: "autoscaling", Resource: "horizontalpodautoscalers"}
	if r, _ := rs.Preferred(hpa); r.Version != "v2" {
		t.Errorf("preferred version of %s is %q, want v2", hpa, r.Version)
	}
	if r, err := rs.For("autoscaling/v1", "HorizontalPodAutoscaler"); err != nil || rs.Monitored(r) {
		t.Errorf("autoscaling/v1: %v, %v; want it served and not monitored", r, err)
	}
	if r, err := rs.For("v1", "Node"); err != nil || r.Namespaced || r.Custom || !rs.Monitored(r) {
		t.Errorf("v1 Node: %+v, %v", r, err)
	}
	if r, err := rs.For("v1", "Binding"); err != nil || rs.Monitored(r) {
		t.Errorf("v1 Binding: %+v, %v; want it not monitored", r, err)
	}
}
