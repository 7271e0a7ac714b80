package shapes

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// oneNamespace is one Deployment of 100 ReplicaSets at 10,000 objects, and of 1,000 at a million. One
// pod of twenty has a claim of its own.
func oneNamespace(w *world) {
	w.begin()
	w.namespace = "shop"
	w.space(w.namespace)
	w.token(w.namespace, "web")
	w.root = w.add(object.Deployment, w.namespace, "web")
	sets := 1
	for sets*sets < w.n {
		sets++
	}
	pods := (w.n - len(w.objects) - sets) * 10 / 11 // of which a twentieth brings a claim and a volume
	for i := range sets {
		set := w.add(object.ReplicaSet, w.namespace, fmt.Sprintf("web-%06d", i), w.root)
		if i == sets/2 {
			w.middle = set
		}
		for j := range (i+1)*pods/sets - i*pods/sets {
			name := set.Name + "-" + suffix(j)
			if j%20 > 0 {
				w.pod(w.namespace, name, set)
				continue
			}
			pod := w.pod(w.namespace, name, set, object.Claim{Name: name + "-scratch", Ephemeral: true})
			w.claim(w.namespace, name+"-scratch", pod)
			if set == w.middle && j == 0 {
				w.asked = append(w.asked, pod.Ref)
			}
		}
	}
}

// manyNamespaces has an application for every 20 objects, in as many namespaces up to 5,000. Of
// one of twenty nothing is left but what holds up its deletion.
func manyNamespaces(w *world) {
	w.begin()
	applications := w.n / 20
	spaces := min(applications, 5000)
	for i := range spaces {
		namespace := fmt.Sprintf("team-%04d", i)
		space := w.space(namespace)
		if i%20 == 3 {
			w.leave(space)
			continue
		}
		for j := range (i+1)*applications/spaces - i*applications/spaces {
			name := fmt.Sprintf("app-%d", j)
			w.token(namespace, name)
			service := w.add(object.Service, namespace, name)
			w.add(object.EndpointSlice, namespace, name+"-"+suffix(j), service)
			w.add(object.ConfigMap, namespace, name)
			w.add(object.Secret, namespace, name)
			deployment := w.add(object.Deployment, namespace, name)
			for revision := range 3 {
				set := w.add(object.ReplicaSet, namespace, fmt.Sprintf("%s-%d", name, revision), deployment)
				for pod := range revision { // the last one has most
					w.pod(namespace, set.Name+"-"+suffix(pod), set)
				}
			}
			claim, _ := w.claim(namespace, name)
			set := w.add(object.StatefulSet, namespace, name)
			pod := w.pod(namespace, name+"-0", set, object.Claim{Name: claim.Name})
			if i == spaces/2 && j == 0 {
				w.namespace, w.root, w.middle = namespace, space, deployment
				w.asked = append(w.asked, pod.Ref, claim.Ref)
			}
		}
	}
}

// events has a few applications in twenty namespaces, and nine Events for each object else.
func events(w *world) {
	w.begin()
	const spaces = 20
	for i := range spaces {
		space := w.space(fmt.Sprintf("shop-%02d", i))
		if i == spaces/2 {
			w.namespace, w.root = space.Name, space
		}
	}
	for i := 0; !w.full(); i++ {
		namespace, name := fmt.Sprintf("shop-%02d", i%spaces), fmt.Sprintf("app-%05d", i/spaces)
		deployment := w.add(object.Deployment, namespace, name)
		set := w.add(object.ReplicaSet, namespace, name+"-5d47c484f4", deployment)
		for j := range 3 {
			pod := w.pod(namespace, set.Name+"-"+suffix(j), set)
			for k := range 15 {
				w.add(event, namespace, fmt.Sprintf("%s.%016x", pod.Name, 0x17c0000000000000+i*100+k))
			}
			if w.middle == nil && namespace == w.namespace {
				w.middle = deployment
				w.asked = append(w.asked, pod.Ref)
			}
		}
	}
}

// jobs has ten namespaces of CronJobs with ten Jobs each, and one CronJob with a third of all.
func jobs(w *world) {
	w.begin()
	const spaces = 10
	for i := range spaces {
		w.space(fmt.Sprintf("batch-%d", i))
	}
	w.namespace = "batch-5"
	w.root = w.add(object.CronJob, w.namespace, "import")
	for i := 0; !w.full(); i++ {
		namespace := fmt.Sprintf("batch-%d", i%spaces)
		cron := w.add(object.CronJob, namespace, fmt.Sprintf("report-%05d", i))
		for j := range 10 {
			w.job(cron, j, j == 9)
		}
		for j := range 5 {
			last := w.job(w.root, i*5+j, j == 4)
			if w.middle == nil && namespace == w.namespace {
				w.middle = cron
				w.asked = append(w.asked, last.Ref)
			}
		}
	}
}

// job adds a Job with two pods, and returns the second. The pods of a Job that has not
// finished are held by its finalizer; one of three is being deleted.
func (w *world) job(cron *object.Object, i int, running bool) *object.Object {
	job := w.add(object.Job, cron.Namespace, fmt.Sprintf("%s-%08d", cron.Name, 29_000_000+i), cron)
	job.Edit().Facts = &object.JobFacts{Finished: !running}
	var pod *object.Object
	for j := range 2 {
		pod = w.pod(cron.Namespace, job.Name+"-"+suffix(j), job)
		if running {
			pod.Lifecycle.Finalizers = []string{"batch.kubernetes.io/job-tracking"}
			if w.chance.IntN(3) == 0 {
				w.end(pod)
			}
			continue
		}
		pod.Pod().Phase = "Succeeded"
	}
	return pod
}

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
