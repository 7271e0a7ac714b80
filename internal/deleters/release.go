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
		return "", fmt.Errorf("the version of the API server is %q, and that of none that is known", d.version)
	}
	if of.Nearest() != of {
		return fmt.Sprintf("the API server is %s: what was measured are %s to %s, and the rules of the nearest hold", d.version, release.Oldest, release.Newest), nil
	}
	return "", nil
}

// release is that of the server, or the one that it behaves as; 0 where it is unknown.
func (d *Deleters) release() release.Minor { return release.MinorOf(cmp.Or(d.emulated, d.version)) }
