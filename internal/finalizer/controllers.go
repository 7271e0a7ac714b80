package finalizer

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Controller is a controller of the table, and how it is called where it runs.
type Controller struct {
	// Name is what entries of the table have as RemovedBy.
	Name string
	// Of are the kinds whose finalizers this program removes, as `HelmRelease`, or their API
	// groups, as `helm.toolkit.fluxcd.io`, if the controller consists of several programs.
	// Empty for all kinds.
	Of string
	// Programs are the names of its workloads, service accounts, images and labels.
	// `cert-manager` stands for `prod-cert-manager` and `cert-manager-controller` too. A `*`
	// in it stands for any text.
	Programs []string
}

// kindSuffixes are the words that an installation adds to the name of a controller.
var kindSuffixes = []string{"controller-manager", "controllers", "controller", "operator", "manager", "server"}

// IsCalled reports whether one of the names is the controller's.
func (c *Controller) IsCalled(names []string) bool {
	for _, program := range c.Programs {
		if slices.ContainsFunc(names, func(name string) bool { return calls(program, strings.ToLower(name)) }) {
			return true
		}
	}
	return false
}

// calls reports whether a name is that of a program.
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

// ControllersOf are the programs that remove a known finalizer from an object; empty if their
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

// Recognize is the controller of the table that is called by one of the names, in full: many
// programs may have a name that fits a pattern. It is nil if none is.
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

// Controllers lists the table.
func Controllers() []Controller { return slices.Clone(controllers) }
