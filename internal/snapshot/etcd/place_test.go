package etcd

import "testing"

func TestPlaceOf(t *testing.T) {
	for key, want := range map[string]Place{
		"pods/shop/web":                          {"", "pods", "shop", "web"},
		"services/specs/shop/web":                {"", "services", "shop", "web"},
		"services/endpoints/shop/web":            {"", "endpoints", "shop", "web"},
		"minions/n1":                             {"", "nodes", "", "n1"},
		"controllers/shop/web":                   {"", "replicationcontrollers", "shop", "web"},
		"clusterroles/system:node":               {"", "clusterroles", "", "system:node"},
		"example.com/widgets/shop/w":             {"example.com", "widgets", "shop", "w"},
		"example.com/gadgets/g":                  {"example.com", "gadgets", "", "g"},
		"apiregistration.k8s.io/apiservices/v1.": {"apiregistration.k8s.io", "apiservices", "", "v1."},
	} {
		if got, ok := PlaceOf(key); !ok || got != want {
			t.Errorf("%s: %+v, %v", key, got, ok)
		}
	}
	for _, key := range []string{"", "health", "ranges/serviceips", "masterleases/10.0.0.1", "pods", "pods/a/b/c", "pods/"} {
		if got, ok := PlaceOf(key); ok {
			t.Errorf("%s: %+v", key, got)
		}
	}
}

// A custom resource may have the name and the namespace of a well-known object.
func TestPrefix(t *testing.T) {
	for want, keys := range map[string][]string{
		"/registry/":      {"/registry/example.com/x/namespaces/default", "/registry/namespaces/default"},
		"/kubernetes.io/": {"/kubernetes.io/namespaces/default", "/kubernetes.io/namespaces/kube-system", "/registry/x"},
		"/other/":         {"/other/namespaces/kube-system"},
	} {
		if got, err := prefixOf(keys); got != want || err != nil {
			t.Errorf("%q: %q, %v", keys, got, err)
		}
	}
	if got, err := prefixOf([]string{"/a", "/registry/pods/shop/web"}); got != "/registry/" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
