package evidence

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
)

// programs finds running pods and workloads by their names.
type programs struct {
	// pods has the unfinished pods by the names that their programs may use.
	pods map[string][]*Pod
	// workloads has the workloads by namespace and name.
	workloads map[[2]string][]*Workload
	// atWork are all unfinished pods, controllers those that belong to a controller of the table.
	atWork      []*Pod
	controllers map[*finalizer.Controller][]*Pod
}

func newPrograms(seen *World) *programs {
	p := &programs{pods: map[string][]*Pod{}, workloads: map[[2]string][]*Workload{}, controllers: map[*finalizer.Controller][]*Pod{}}
	if seen == nil {
		return p
	}
	for n := range seen.Pods {
		if pod := &seen.Pods[n]; !finished(pod) {
			p.atWork = append(p.atWork, pod)
			for _, name := range lowered(pod.Programs) {
				p.pods[name] = append(p.pods[name], pod)
			}
		}
	}
	for n := range seen.Workloads {
		w := &seen.Workloads[n]
		at := [2]string{w.Ref.Namespace, w.Ref.Name}
		p.workloads[at] = append(p.workloads[at], w)
	}
	return p
}

// called returns the pods that belong to some controllers of the table.
func (p *programs) called(known []*finalizer.Controller) []*Pod {
	var all []*Pod
	for _, c := range known {
		pods, done := p.controllers[c]
		if !done {
			for _, pod := range p.atWork {
				if c.IsCalled(pod.allNames()) {
					pods = append(pods, pod)
				}
			}
			p.controllers[c] = pods
		}
		all = append(all, pods...)
	}
	return all
}

// packages returns what the workload of a pod was installed with.
func (p *programs) packages(pod *Pod) []string {
	for _, w := range p.workloads[[2]string{pod.Ref.Namespace, pod.workloadName()}] {
		if w.ServiceAccount == pod.ServiceAccount {
			return w.Packages
		}
	}
	return nil
}

func lowered(names []string) []string {
	low := make([]string, len(names))
	for n, name := range names {
		low[n] = strings.ToLower(name)
	}
	return unique(low)
}
