package reach_test

import (
	"slices"
	"testing"
)

// TestFollowers: objects that are deleted with others without a reference, and objects that wait
// for others, are reached from them and are in their part.
func TestFollowers(t *testing.T) {
	const (
		given  = "\nnetworking.k8s.io/v1 IPAddress 10.0.0.5 uid=ip labels=ipaddress.kubernetes.io/managed-by=ipallocator.k8s.io"
		ranges = "\nnetworking.k8s.io/v1 ServiceCIDR a cidrs=10.0.0.0/24 fin=networking.k8s.io/service-cidr-finalizer"
		also   = "\nnetworking.k8s.io/v1 ServiceCIDR b cidrs=10.0.0.0/16 fin=networking.k8s.io/service-cidr-finalizer"
		volume = "v1 PersistentVolumeClaim n/c uid=c\nv1 PersistentVolume v phase=Bound claim=n/c:c reclaim="
		token  = "v1 Namespace n\nv1 ServiceAccount n/ci uid=a\nv1 ServiceAccount n/web\nv1 Secret n/t token="
		mirror = " labels=kubernetes.io/service-name=s,endpointslice.kubernetes.io/managed-by=endpointslicemirroring-controller.k8s.io"
		widget = "apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com uid=w defines=example.com/v1:Widget:widgets"
		gadget = "\napiextensions.k8s.io/v1 CustomResourceDefinition gadgets.example.com uid=g defines=example.com/v1:Gadget:gadgets"
		api    = "\napiregistration.k8s.io/v1 APIService v1.example.com labels=kube-aggregator.kubernetes.io/automanaged="
		device = "v1 Pod n/p uid=p phase=Running\nresource.k8s.io/v1 ResourceClaim n/d uid=d reserved=pods:p:p fin=resource.kubernetes.io/delete-protection"
	)
	for _, test := range []struct {
		name, world string
		of          [3]string
		above, part []string
	}{
		{"a volume", volume + "Delete by=x.io", [3]string{"PersistentVolume", "", "v"}, []string{"c"}, []string{"c", "v"}},
		{"the claim of a volume", volume + "Delete by=x.io", [3]string{"PersistentVolumeClaim", "n", "c"}, nil, []string{"c", "v"}},
		{"a volume that stays", volume + "Retain", [3]string{"PersistentVolume", "", "v"}, nil, []string{"c", "v"}},
		{"the token of an account", token + "ci:a", [3]string{"Secret", "n", "t"}, []string{"ci", "n"}, []string{"ci", "n", "t"}},
		{"the account of a token", token + "ci", [3]string{"ServiceAccount", "n", "ci"}, []string{"n"}, []string{"ci", "n", "t"}},
		{"what may be a token", "v1 ServiceAccount n/ci uid=a\nv1 Secret n/t token?=ci", [3]string{"ServiceAccount", "n", "ci"}, nil, []string{"ci", "t"}},
		{
			"Endpoints", "v1 Service n/s\nv1 Endpoints n/s uid=e\nv1 Service m/s uid=other\nv1 Service n/t", [3]string{"Endpoints", "n", "s"},
			[]string{"s"}, []string{"s", "s"},
		},
		{"a mirror of Endpoints", "v1 Endpoints n/s uid=e\ndiscovery.k8s.io/v1 EndpointSlice n/m" + mirror, [3]string{"EndpointSlice", "n", "m"}, []string{"s"}, []string{"m", "s"}},
		{"an address", "v1 Service n/s" + given + " of=n/s" + ranges, [3]string{"IPAddress", "", "10.0.0.5"}, []string{"s"}, []string{"10.0.0.5", "a", "s"}},
		{"the API of CRDs", widget + gadget + api + "true", [3]string{"APIService", "", "v1.example.com"},
			[]string{"gadgets.example.com", "widgets.example.com"}, []string{"gadgets.example.com", "v1.example.com", "widgets.example.com"}},
		{"an API that somebody made", widget + api + "no", [3]string{"APIService", "", "v1.example.com"},
			nil, []string{"v1.example.com", "widgets.example.com"}},
		{"a device that waits", device + " deleting", [3]string{"ResourceClaim", "n", "d"}, []string{"p"}, []string{"d", "p"}},
		{"a device", device, [3]string{"ResourceClaim", "n", "d"}, nil, []string{"d", "p"}},
		{"the pod of a device", device, [3]string{"Pod", "n", "p"}, nil, []string{"d", "p"}},
		{"a range that waits", "v1 Service n/s" + given + " of=n/s" + ranges + " deleting" + also, [3]string{"ServiceCIDR", "", "a"},
			[]string{"10.0.0.5", "b", "s"}, []string{"10.0.0.5", "a", "b", "s"}},
		{"a range of who knows whose addresses", "v1 Service n/s" + given + ranges + " deleting", [3]string{"ServiceCIDR", "", "a"},
			[]string{"s", "10.0.0.5"}, []string{"10.0.0.5", "a", "s"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			snap := parsed(t, test.world)
			m := mapped(snap)
			var target = snap.Objects[0]
			for _, o := range snap.Objects {
				if [3]string{o.Kind, o.Namespace, o.Name} == test.of {
					target = o
				}
			}
			var above, part []string
			for _, o := range m.Ancestors(target) {
				above = append(above, o.Name)
			}
			for _, o := range m.Part(target).Objects {
				part = append(part, o.Name)
			}
			slices.Sort(above)
			slices.Sort(part)
			slices.Sort(test.above)
			if !slices.Equal(above, test.above) || !slices.Equal(part, test.part) {
				t.Errorf("above %v, want %v; the part is %v, want %v", above, test.above, part, test.part)
			}
		})
	}
}
