package shapes

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// storage has twenty namespaces of StatefulSets with ten pods each, which have two claims each. Those
// of every second StatefulSet go with it, and of one of ten they are being deleted.
func storage(w *world) {
	w.begin()
	const spaces, replicas = 20, 10
	for i := range spaces {
		space := w.space(fmt.Sprintf("data-%02d", i))
		if i == spaces/2 {
			w.namespace, w.root = space.Name, space
		}
	}
	for i := 0; !w.full(); i++ {
		namespace, name := fmt.Sprintf("data-%02d", i%spaces), fmt.Sprintf("db-%05d", i/spaces)
		set := w.add(object.StatefulSet, namespace, name)
		set.Edit().Facts = &object.StatefulSetFacts{ClaimTemplates: []string{"data", "log"}}
		w.add(object.ControllerRevision, namespace, name+"-5d47c484f4", set)
		w.add(object.Service, namespace, name)
		for j := range replicas {
			var claims []object.Claim
			for _, template := range set.StatefulSet().ClaimTemplates {
				var owners []*object.Object
				if i/spaces%2 == 1 {
					owners = append(owners, set)
				}
				claim, volume := w.claim(namespace, fmt.Sprintf("%s-%s-%d", template, name, j), owners...)
				attachment := w.add(object.VolumeAttachment, "", "csi-"+string(volume.UID))
				attachment.Edit().Finalizers = []string{"external-attacher/csi-example-com"}
				claims = append(claims, object.Claim{Name: claim.Name})
				if i%10 == 7 {
					w.end(claim)
					w.end(volume)
				}
				if w.middle == nil && namespace == w.namespace {
					w.middle = set
					w.asked = append(w.asked, claim.Ref, volume.Ref)
				}
			}
			pod := w.pod(namespace, fmt.Sprintf("%s-%d", name, j), set, claims...)
			if len(w.asked) == 2 {
				w.asked = append(w.asked, pod.Ref)
			}
		}
	}
}

// applications is the cluster of which the first measurements were made.
func applications(w *world) {
	w.begin()
	widgets := w.define("example.com", "Widget", "widgets", true)
	for team := 0; !w.full(); team++ {
		namespace := fmt.Sprintf("team-%03d", team)
		space := w.space(namespace)
		for app := 0; app < 100 && !w.full(); app++ {
			widget, pod := w.application(widgets, namespace, fmt.Sprintf("app-%d", app))
			if team == 0 && app == 0 {
				w.namespace, w.root, w.middle = namespace, space, widget
				w.asked = append(w.asked, pod.Ref)
			}
		}
	}
}

// application adds twenty objects below a custom resource and beside it.
func (w *world) application(kind object.Kind, namespace, name string) (widget, pod *object.Object) {
	widget = w.add(kind, namespace, name)
	for i := range 2 {
		w.add(object.Secret, namespace, fmt.Sprintf("%s-%d", name, i), widget)
	}
	service := w.add(object.Service, namespace, name, widget)
	w.add(object.EndpointSlice, namespace, name, service)
	w.add(object.ConfigMap, namespace, name)
	deployment := w.add(object.Deployment, namespace, name, widget)
	for i := range 4 {
		w.add(object.ReplicaSet, namespace, fmt.Sprintf("%s-%d", name, i), deployment)
	}
	set := w.objects[len(w.objects)-1]
	for i := range 7 {
		pod = w.pod(namespace, fmt.Sprintf("%s-%d", name, i), set, object.Claim{Name: name})
	}
	w.claim(namespace, name)
	return widget, pod
}
