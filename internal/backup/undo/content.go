package undo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// decode parses and checks the bytes. Numbers keep their digits. (N21)
func (n *node) decode() error {
	d := json.NewDecoder(bytes.NewReader(n.Raw))
	d.UseNumber()
	if err := d.Decode(&n.content); err != nil {
		return fmt.Errorf("the bytes are no object: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind the object")
	}
	if _, ok := n.content["metadata"].(map[string]any); !ok {
		return errors.New("the object has no metadata")
	}
	for _, f := range []struct {
		want string
		path []string
	}{
		{n.Object.Name, []string{"metadata", "name"}}, {n.Object.Namespace, []string{"metadata", "namespace"}},
		{string(n.Object.UID), []string{"metadata", "uid"}},
	} {
		if got := textAt(n.content, f.path...); got != f.want {
			return fmt.Errorf("metadata.%s is %q, want %q", f.path[1], got, f.want)
		}
	}
	for key, want := range map[string]string{"apiVersion": n.Object.APIVersion, "kind": n.Object.Kind} {
		if got, there := n.content[key]; there && got != want {
			return fmt.Errorf("%s is not %q", key, want)
		}
		n.content[key] = want // items of a list have neither
	}
	n.owners = references(n.content)
	n.managers, _ = at(n.content, "metadata", "managedFields").([]any)
	return nil
}

// at returns the value at the end of a path of keys; nil if there is none.
func at(m map[string]any, path ...string) any {
	var value any = m
	for _, key := range path {
		below, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = below[key]
	}
	return value
}

// textAt returns the string at the end of a path of keys; empty if there is none.
func textAt(m map[string]any, path ...string) string {
	s, _ := at(m, path...).(string)
	return s
}

// texts returns the strings of a list.
func texts(m map[string]any, path ...string) []string {
	list, _ := at(m, path...).([]any)
	var all []string
	for _, entry := range list {
		if s, ok := entry.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// remove deletes the value at the end of a path, and reports whether it existed.
func remove(m map[string]any, path ...string) bool {
	last := len(path) - 1
	below, ok := at(m, path[:last]...).(map[string]any)
	if !ok {
		return false
	}
	_, there := below[path[last]]
	delete(below, path[last])
	return there
}

// condition reports whether one of the named conditions is True in the status.
func condition(m map[string]any, names ...string) bool {
	list, _ := at(m, "status", "conditions").([]any)
	return slices.ContainsFunc(list, func(entry any) bool {
		c, ok := entry.(map[string]any)
		return ok && slices.Contains(names, textAt(c, "type")) && textAt(c, "status") == "True"
	})
}

// endings are the conditions of finished work and their statuses. For those that may also be False,
// Unknown means that the work continues.
//
// Tekton's runs have Succeeded, Kueue's Workloads Finished, Kubeflow's jobs Succeeded and Failed,
// JobSets Completed and Failed.
var endings = map[string][]string{
	"Complete": {"True"}, "Completed": {"True"}, "Finished": {"True"}, "Failed": {"True"}, "Succeeded": {"True", "False"},
}

// endTimes are the status fields that hold the time when work finished.
//
// Velero has completionTimestamp, Tekton and Kubeflow completionTime, Argo Workflows finishedAt,
// Ray endTime, CloudNativePG stoppedAt, Percona's backups completed, Spark terminationTime.
var endTimes = []string{
	"completionTime", "completionTimestamp", "completedAt", "completed", "finishedAt", "finishTime", "finishTimestamp", "finishedTime",
	"endTime", "endTimestamp", "endedAt", "stoppedAt", "terminationTime",
}

// isTime matches RFC 3339 times.
var isTime = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}`)

// hasEnded reports whether a custom resource is finished work: its status has a finished condition
// or an end time. A phase is not enough: Succeeded also describes an installation that keeps
// running.
func (n *node) hasEnded() bool {
	list, _ := at(n.content, "status", "conditions").([]any)
	for _, entry := range list {
		c, _ := entry.(map[string]any)
		if slices.Contains(endings[textAt(c, "type")], textAt(c, "status")) {
			return true
		}
	}
	return slices.ContainsFunc(endTimes, func(field string) bool { return isTime.MatchString(textAt(n.content, "status", field)) })
}

// ranToItsEnd reports whether the object is finished work that its controller would run again. If
// the status of a custom resource is written with the object, its controller sees that the work is
// finished.
func (n *node) ranToItsEnd(p *planning) bool {
	switch {
	case n.Object.Is(object.Job):
		return condition(n.content, "Complete", "Failed")
	case n.Object.Is(object.CertificateSigningRequest):
		return condition(n.content, "Approved", "Denied", "Failed")
	case n.Object.Is(object.Pod):
		phase := textAt(n.content, "status", "phase")
		return phase == "Succeeded" || phase == "Failed"
	case object.BuiltIn(n.Object.Group()):
		return false
	default:
		return n.hasEnded() && p.statusAt(n) != StatusInside
	}
}

// serverFields are the metadata fields that the server sets, for every kind.
//
// Upstream: apiserver/pkg/registry/rest/create.go BeforeCreate: overwrites or refuses them.
var serverFields = []string{"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	"generation", "managedFields", "selfLink", "ownerReferences"}

// accountAnnotation names the ServiceAccount of a token.
//
// Upstream: api/core/v1/types.go ServiceAccountNameKey.
const accountAnnotation = "kubernetes.io/service-account.name"

// strip removes from the content what a new object must not have.
func (n *node) strip(p *planning) {
	if textAt(n.content, "metadata", "deletionTimestamp") != "" {
		n.step.Notes = append(n.step.Notes, reason.WasBeingDeleted)
	}
	for _, field := range serverFields {
		remove(n.content, "metadata", field)
	}
	n.stripStatus(p)
	n.stripFinalizers()
	n.stripKind()
	if n.Object.Is(object.PVC) {
		n.noteVolume(p)
	}
}

// stripKind removes what a new object of this kind must not have.
func (n *node) stripKind() {
	switch {
	case n.Object.Is(object.Pod):
		n.drop(reason.NodeChosenAgain, "spec", "nodeName") // the old node may be gone
		n.drop(reason.RefusedAtCreation, "spec", "ephemeralContainers")
	case n.Object.Is(object.PVC):
		for _, a := range bindingMarks {
			n.drop(reason.BoundAgain, "metadata", "annotations", a)
		}
	case n.Object.Is(object.PV):
		// The volume stays reserved for the claim of that name, whatever its UID.
		n.drop(reason.ClaimHasNewUID, "spec", "claimRef", "uid")
		n.drop(reason.ClaimHasNewUID, "spec", "claimRef", "resourceVersion")
		n.drop(reason.BoundAgain, "metadata", "annotations", "pv.kubernetes.io/bound-by-controller")
	case n.Object.Is(object.Job):
		n.stripJob()
	case isToken(n):
		// With the UID of another ServiceAccount, the Secret would be deleted.
		n.drop(reason.AccountUIDSet, "metadata", "annotations", "kubernetes.io/service-account.uid")
		if n.drop(reason.TokenDropped, "data", "token") {
			n.step.Notes = append(n.step.Notes, reason.TokenDropped)
		}
	}
}

// drop removes a field and records why.
func (n *node) drop(why reason.Code, path ...string) bool {
	if !remove(n.content, path...) {
		return false
	}
	n.stripped(strings.Join(path, "."), why)
	return true
}

func (n *node) stripped(field string, why reason.Code) {
	n.step.Stripped = append(n.step.Stripped, Stripped{field, why})
}

// stripFinalizers removes those of the garbage collector. They belonged to the earlier deletion and
// would set the propagation policy of the next one. Other finalizers stay, since their controllers
// expect them on such an object.
func (n *node) stripFinalizers() {
	metadata, _ := n.content["metadata"].(map[string]any)
	list, _ := metadata["finalizers"].([]any)
	kept := slices.DeleteFunc(slices.Clone(list), func(f any) bool { return f == object.Foreground || f == object.Orphan })
	switch {
	case len(kept) == len(list):
		return
	case len(kept) == 0:
		delete(metadata, "finalizers")
	default:
		metadata["finalizers"] = kept
	}
	n.stripped("metadata.finalizers of the garbage collector", reason.OfEarlierDeletion)
}

// addresses are the fields of a Service with allocated addresses, as named in a server's refusal.
// Another Service may hold them now, and then the server refuses the whole Service.
//
// Upstream: pkg/registry/core/service/ipallocator/interfaces.go ErrAllocated.
var addresses = []string{"spec.clusterIP", "spec.healthCheckNodePort", "spec.ports"}

// DropAddresses removes the addresses and ports of a Service that the refused fields name, so that
// the server allocates new ones. It returns false if there are none.
func (s *Step) DropAddresses(refused []string) bool {
	if s.Verb != Create || !s.Object.Is(object.Service) {
		return false
	}
	n := node{Saved: Saved{Object: s.Object}, content: s.content}
	for _, field := range addresses {
		if slices.ContainsFunc(refused, func(f string) bool { return strings.HasPrefix(f, field) }) {
			n.dropAddress(field)
		}
	}
	if len(n.step.Stripped) == 0 {
		return false
	}
	s.Stripped = append(slices.Clip(s.Stripped), n.step.Stripped...)
	s.note(reason.AddressesDropped)
	return true
}

// Addresses returns the fields of a new Service with addresses and ports that are written, and that
// another Service may have by then.
func (s *Step) Addresses() []string {
	if s.Verb != Create || !s.Object.Is(object.Service) {
		return nil
	}
	n := node{Saved: Saved{Object: s.Object}, content: runtime.DeepCopyJSON(s.content)}
	for _, field := range addresses {
		n.dropAddress(field)
	}
	var fields []string
	for _, x := range n.step.Stripped {
		fields = append(fields, x.Field)
	}
	return fields
}

// dropAddress removes one of the fields in addresses. The clusterIP None of a headless Service is
// not an address and stays.
func (n *node) dropAddress(field string) {
	switch field {
	case "spec.clusterIP":
		if textAt(n.content, "spec", "clusterIP") != "None" {
			n.drop(reason.AddressesDropped, "spec", "clusterIP")
			n.drop(reason.AddressesDropped, "spec", "clusterIPs")
		}
	case "spec.healthCheckNodePort":
		n.drop(reason.AddressesDropped, "spec", "healthCheckNodePort")
	case "spec.ports":
		ports, _ := at(n.content, "spec", "ports").([]any)
		had := false
		for _, entry := range ports {
			if port, ok := entry.(map[string]any); ok {
				had = remove(port, "nodePort") || had
			}
		}
		if had {
			n.stripped("spec.ports.nodePort", reason.AddressesDropped)
		}
	}
}

// bindingMarks are the annotations of a claim's former binding. A claim that has them, but not its
// volume, counts as lost.
//
// Upstream: pkg/controller/volume/persistentvolume/pv_controller.go PersistentVolumeController.syncClaim.
var bindingMarks = []string{"pv.kubernetes.io/bind-completed", "pv.kubernetes.io/bound-by-controller", "volume.kubernetes.io/selected-node"}

// noteVolume notes the state of a claim's volume. The claim keeps the name of the volume; without
// it, the claim would silently get an empty volume.
func (n *node) noteVolume(p *planning) {
	name := textAt(n.content, "spec", "volumeName")
	if name == "" {
		return
	}
	volume := object.PV.Ref("", name)
	if i, filled := p.places[volume.Coordinates()]; filled && p.nodes[i].state == made {
		return
	}
	live, err := p.now.Lookup(volume)
	switch {
	case err != nil:
		n.step.note(reason.VolumeUnknown)
	case live == nil:
		n.step.note(reason.VolumeGone)
	case live.Volume() == nil:
		n.step.note(reason.VolumeUnknown)
	case live.Volume().ClaimUID == "":
	case live.Volume().ClaimNamespace == n.Object.Namespace && live.Volume().ClaimName == n.Object.Name: // any earlier PVC of that name
		n.step.note(reason.VolumeReleased)
		n.step.claim = live.Volume().ClaimUID
	default:
		n.step.note(reason.VolumeTaken)
	}
}

// stripJob removes the selector and the labels with the UID of the Job, which the server generates,
// unless the user chose them.
//
// Upstream: pkg/registry/batch/job/strategy.go generateSelector.
func (n *node) stripJob() {
	if manual, _ := at(n.content, "spec", "manualSelector").(bool); manual {
		return
	}
	n.drop(reason.UIDGenerated, "spec", "selector")
	for _, label := range []string{"controller-uid", "batch.kubernetes.io/controller-uid"} {
		n.drop(reason.UIDGenerated, "metadata", "labels", label)
		n.drop(reason.UIDGenerated, "spec", "template", "metadata", "labels", label)
	}
}

// isToken reports whether the object is a token Secret of a ServiceAccount.
func isToken(n *node) bool {
	return n.Object.Is(object.Secret) && textAt(n.content, "type") == "kubernetes.io/service-account-token"
}
