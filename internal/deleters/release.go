package deleters

import (
	"cmp"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Known is the error of a server whose version says nothing, and a remark on one for which the
// rules were not measured.
func (d *Deleters) Known() (remark string, err error) {
	of := d.release()
	if of == 0 {
		return "", fmt.Errorf("the API server says that its version is %q: that is no release of Kubernetes", d.version)
	}
	if of.Nearest() != of {
		return fmt.Sprintf("the API server is %s: the rules of the nearest release from %s to %s are followed", d.version, release.Oldest, release.Newest), nil
	}
	return "", nil
}

// release is that of the server, or the one that it behaves as; 0 where it is unknown.
func (d *Deleters) release() release.Minor { return release.MinorOf(cmp.Or(d.emulated, d.version)) }
