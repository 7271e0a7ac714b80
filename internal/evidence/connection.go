package evidence

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// question is the cache key of candidates: everything that decides which pods and workloads are
// connected to a finalizer.
type question struct {
	writers     *mayWrite
	finalizer   string
	group, kind string
	program     string
	// byTool is true if a tool that people use wrote the finalizer. table is true if the
	// finalizer's controller is the one in the table of known finalizers.
	byTool, table bool
}

// candidates are the pods and workloads that may write an object, and those that have a name of the
// finalizer's controller.
type candidates struct {
	// connected may write the object and are connected to the finalizer. Those that wrote the
	// finalizer come first. why has the reason of each.
	connected []*Pod
	why       map[*Pod]string
	// workloads may write the object and are connected to the finalizer.
	workloads []*Workload
	// strangers may write the object by rules that name its API group, mighty ones by rules for all
	// groups. Neither has a known connection to the finalizer.
	strangers, mighty []*Pod
	// powerless have a name of the controller, but no known permission to write the object.
	powerless []*Pod
}

// candidatesOf sorts the pods and workloads that may write the object. The permission to write
// alone does not show that a controller removes the finalizer.
func (s *search) candidatesOf() *candidates {
	q := question{s.writers, s.name, s.o.Group(), s.o.Kind, s.program, s.writtenByTool(), !s.elsewhere}
	if c, ok := s.candidates[q]; ok {
		return c
	}
	c := &candidates{why: map[*Pod]string{}}
	s.candidates[q] = c
	if s.seen == nil {
		return c
	}
	known := s.controllers()
	packages := s.packagesOfGroups()
	for _, w := range s.writers.workloads {
		if s.connection(Account{w.Ref.Namespace, w.ServiceAccount}, w.Programs, w.allNames(), w.Packages, known, packages) != "" {
			c.workloads = append(c.workloads, w)
		}
	}
	for _, p := range s.writers.pods {
		a := Account{p.Ref.Namespace, p.ServiceAccount}
		switch why := s.connection(a, p.Programs, p.allNames(), s.programs.packages(p), known, packages); {
		case why != "":
			c.connected, c.why[p] = append(c.connected, p), why
		case s.writers.accounts[a]:
			c.strangers = append(c.strangers, p)
		case s.writers.powerful[a]:
			c.mighty = append(c.mighty, p)
		}
	}
	called := s.programs.called(known)
	if s.program != "" && !isCommon(s.program) {
		called = append(slices.Clip(called), s.programs.pods[strings.ToLower(s.program)]...)
	}
	for _, p := range called {
		if !s.writers.may(Account{p.Ref.Namespace, p.ServiceAccount}) && !slices.Contains(c.powerless, p) {
			c.powerless = append(c.powerless, p)
		}
	}
	slices.SortStableFunc(c.connected, func(a, b *Pod) int {
		return boolRank(s.wroteIt(b.Programs)) - boolRank(s.wroteIt(a.Programs))
	})
	return c
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// connection returns why a controller that may write the object is connected to the finalizer. It
// returns "" if there is no connection.
func (s *search) connection(a Account, programs, names, packages []string, known []*finalizer.Controller, ofGroups map[string]string) string {
	_, isKnown := finalizer.Of(s.name)
	care := s.rights.looksAfter(a)
	groups := care.watched
	if len(known) > 0 { // a program of another name needs stronger evidence
		groups = care.controlled
	}
	switch {
	case isCalled(known, names):
		return "is called like " + known[0].Name
	case s.wroteIt(programs) && (!isCommon(s.program) || slices.Contains(care.watched, s.o.Group())):
		return "is called like the program that wrote the finalizer"
	case !isKnown && s.writtenByTool():
		return "" // a person may have used the domain of a controller
	}
	for _, group := range groups {
		if s.isOf(group) {
			return "looks after the kinds of " + group
		}
	}
	for _, p := range packages {
		if definition := ofGroups[p]; definition != "" {
			return "was installed with the CRD " + definition
		}
	}
	return ""
}

// isOf reports whether the finalizer belongs to an API group. A domain above the group, such as a
// company's, may have many controllers. Then the object must be of the group too.
func (s *search) isOf(group string) bool {
	return finalizer.IsOfGroup(s.name, group) || finalizer.IsAboveGroup(s.name, group) && s.o.Group() == group
}

// wroteIt reports whether one of the programs has the name of the writer of the finalizer.
func (s *search) wroteIt(programs []string) bool {
	return s.program != "" && slices.ContainsFunc(programs, func(p string) bool { return strings.EqualFold(p, s.program) })
}

// controllers returns the programs that remove the finalizer according to the table.
func (s *search) controllers() []*finalizer.Controller {
	k, known := finalizer.Of(s.name)
	if !known || s.elsewhere {
		return nil
	}
	return finalizer.ControllersOf(k, s.o)
}

func isCalled(known []*finalizer.Controller, names []string) bool {
	return slices.ContainsFunc(known, func(c *finalizer.Controller) bool { return c.IsCalled(names) })
}

// packagesOfGroups maps each package that installed a CRD of the finalizer's API groups to one of
// these CRDs.
func (s *search) packagesOfGroups() map[string]string {
	found := map[string]string{}
	for n := range s.seen.Definitions {
		if d := &s.seen.Definitions[n]; s.isOf(d.Group) {
			for _, p := range d.Packages {
				if found[p] == "" {
					found[p] = d.Ref.Name
				}
			}
		}
	}
	return found
}

// isOther reports whether a pod belongs to a controller of the table that does not remove the
// finalizer.
func (s *search) isOther(p *Pod) bool {
	c, done := s.recognized[p]
	if !done {
		c = finalizer.Recognize(p.allNames())
		s.recognized[p] = c
	}
	k, known := finalizer.Of(s.name)
	return c != nil && (!known || c.Name != k.RemovedBy || len(s.controllers()) > 0)
}

// plural returns the plural of a kind, such as `ConfigMaps`, or the name of the resource if that is
// not the lower-case plural.
func plural(o *object.Object, r object.Resource) string {
	if r.Name != strings.ToLower(o.Kind)+"s" {
		return r.Name
	}
	return o.Kind + "s"
}
