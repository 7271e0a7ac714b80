package finalizer

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Controller is a controller of the table with the names of its programs.
type Controller struct {
	// Name is the RemovedBy of its entries in the table.
	Name string
	// Of is the kind, such as `HelmRelease`, or the API group, such as `helm.toolkit.fluxcd.io`,
	// with finalizers that these programs remove, if the controller consists of several programs.
	// Empty for all kinds.
	Of string
	// Programs are the names of its workloads, service accounts, images and labels. `cert-manager`
	// also matches `prod-cert-manager` and `cert-manager-controller`. A `*` matches any text.
	Programs []string
}

// kindSuffixes are words that installations append to the name of a controller.
var kindSuffixes = []string{"controller-manager", "controllers", "controller", "operator", "manager", "server"}

// IsCalled reports whether one of the names belongs to the controller.
func (c *Controller) IsCalled(names []string) bool {
	for _, program := range c.Programs {
		if slices.ContainsFunc(names, func(name string) bool { return calls(program, strings.ToLower(name)) }) {
			return true
		}
	}
	return false
}

// calls reports whether a name belongs to a program.
func calls(program, name string) bool {
	if strings.Contains(program, "*") {
		return fits(program, name)
	}
	for {
		at := strings.LastIndex(name, program)
		if at < 0 {
			return false
		}
		if before, after := name[:at], name[at+len(program):]; before == "" || strings.HasSuffix(before, "-") {
			kind, added := strings.CutPrefix(after, "-")
			if after == "" || added && slices.Contains(kindSuffixes, kind) {
				return true
			}
		}
		name = name[:at]
	}
}

// ControllersOf returns the programs that remove a known finalizer from an object; empty if their
// names aren't known.
func ControllersOf(k Known, o *object.Object) []*Controller {
	var found []*Controller
	for n := range controllers {
		if c := &controllers[n]; c.Name == k.RemovedBy && (c.Of == "" || c.Of == o.Kind || c.Of == o.Group()) {
			found = append(found, c)
		}
	}
	return found
}

// Recognize returns the controller of the table that has one of the names; nil if there is none. It
// ignores patterns, since many programs may match them.
func Recognize(names []string) *Controller {
	for n := range controllers {
		c := controllers[n]
		c.Programs = slices.DeleteFunc(slices.Clone(c.Programs), func(p string) bool { return strings.Contains(p, "*") })
		if c.IsCalled(names) {
			return &controllers[n]
		}
	}
	return nil
}

// Controllers returns the table.
func Controllers() []Controller { return slices.Clone(controllers) }
