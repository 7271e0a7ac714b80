package evidence

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Workload is a Deployment, StatefulSet or DaemonSet.
type Workload struct {
	Ref            object.Ref `json:"-"`
	ServiceAccount string     `json:"account,omitzero"`
	// Wanted and Ready count pods.
	Wanted       int  `json:"wanted,omitzero"`
	Ready        int  `json:"ready,omitzero"`
	BeingDeleted bool `json:"beingDeleted,omitzero"`
	// Programs are the names that the programs of its containers may use.
	Programs []string `json:"programs,omitempty"`
	// Names are the names in its labels, sorted.
	Names []string `json:"names,omitempty"`
	// Packages are what it was installed with, sorted. See packaged.
	Packages []string `json:"packages,omitempty"`
}

// Pod has the fields of a pod that identify a controller and its state.
type Pod struct {
	Ref            object.Ref `json:"-"`
	ServiceAccount string     `json:"account,omitzero"`
	// Controller is its controlling owner. It is empty without one.
	Controller object.Ref `json:"controller,omitzero"`
	Node       string     `json:"node,omitzero"`
	Phase      string     `json:"phase,omitzero"`
	Ready      bool       `json:"ready,omitzero"`
	// Waiting is why a container does not run, such as CrashLoopBackOff. It is empty if none waits.
	Waiting      string `json:"waiting,omitzero"`
	BeingDeleted bool   `json:"beingDeleted,omitzero"`
	// Mirror is true for the mirror pod of a static pod.
	Mirror   bool     `json:"mirror,omitzero"`
	Programs []string `json:"programs,omitempty"`
	// Names are the names in its labels, sorted.
	Names []string `json:"names,omitempty"`
}

// Running reports whether the phase is Running.
func (p Pod) Running() bool { return p.Phase == "Running" }

type podSpec struct {
	ServiceAccountName string      `json:"serviceAccountName"`
	ServiceAccount     string      `json:"serviceAccount"`
	NodeName           string      `json:"nodeName"`
	Containers         []container `json:"containers"`
}

type container struct {
	Name    string   `json:"name"`
	Image   string   `json:"image"`
	Command []string `json:"command"`
}

// account returns the service account of the pods.
func (s *podSpec) account() string {
	switch {
	case s.ServiceAccountName != "":
		return s.ServiceAccountName
	case s.ServiceAccount != "":
		return s.ServiceAccount
	}
	return "default"
}

// programs returns the names of containers, images and commands, sorted.
func (s *podSpec) programs() []string {
	names := map[string]bool{}
	for _, c := range s.Containers {
		names[c.Name] = true
		image, _, _ := strings.Cut(path.Base(c.Image), "@")
		image, _, _ = strings.Cut(image, ":")
		names[image] = true
		if len(c.Command) > 0 {
			names[path.Base(c.Command[0])] = true
		}
	}
	for _, none := range []string{"", ".", "/"} {
		delete(names, none)
	}
	return keys(names)
}

// workloadBody has the fields that are read from a Deployment, StatefulSet or DaemonSet.
type workloadBody struct {
	Metadata packaged `json:"metadata"`
	Spec     struct {
		Replicas *int `json:"replicas"`
		Template struct {
			Spec podSpec `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		ReadyReplicas int `json:"readyReplicas"`
		NumberReady   int `json:"numberReady"`
		Desired       int `json:"desiredNumberScheduled"`
	} `json:"status"`
}

func (s *Shown) takeWorkload(b *body, raw []byte) error {
	var d workloadBody
	if err := decode(raw, &d); err != nil {
		return err
	}
	one := Workload{
		Ref: b.ref(), ServiceAccount: d.Spec.Template.Spec.account(), BeingDeleted: b.Metadata.DeletionTimestamp != nil,
		Wanted: 1, Ready: d.Status.ReadyReplicas, Programs: d.Spec.Template.Spec.programs(), Names: b.called(), Packages: d.Metadata.packages(b),
	}
	if d.Spec.Replicas != nil {
		one.Wanted = *d.Spec.Replicas
	}
	if b.Kind == "DaemonSet" {
		one.Wanted, one.Ready = d.Status.Desired, d.Status.NumberReady
	}
	s.Workloads = append(s.Workloads, one)
	return nil
}

// podBody has the fields that are read from a Pod.
type podBody struct {
	Metadata struct {
		Annotations struct {
			Mirror json.RawMessage `json:"kubernetes.io/config.mirror"`
		} `json:"annotations"`
	} `json:"metadata"`
	Spec   podSpec `json:"spec"`
	Status struct {
		Phase      string            `json:"phase"`
		Conditions []condition       `json:"conditions"`
		Containers []containerStatus `json:"containerStatuses"`
		Init       []containerStatus `json:"initContainerStatuses"`
	} `json:"status"`
}

func (s *Shown) takePod(b *body, raw []byte) error {
	var d podBody
	if err := decode(raw, &d); err != nil {
		return err
	}
	ready, _ := Find(conditions(d.Status.Conditions), "Ready")
	p := Pod{
		Ref: b.ref(), ServiceAccount: d.Spec.account(), Controller: b.controller(), Node: d.Spec.NodeName,
		Phase: d.Status.Phase, Ready: ready.True(), BeingDeleted: b.Metadata.DeletionTimestamp != nil, Programs: d.Spec.programs(), Names: b.called(),
	}
	p.Mirror = d.Metadata.Annotations.Mirror != nil
	for _, s := range append(d.Status.Init, d.Status.Containers...) {
		if p.Waiting == "" {
			p.Waiting = s.State.Waiting.Reason
		}
	}
	s.Pods = append(s.Pods, p)
	return nil
}

type containerStatus struct {
	State struct {
		Waiting struct {
			Reason string `json:"reason"`
		} `json:"waiting"`
	} `json:"state"`
}
