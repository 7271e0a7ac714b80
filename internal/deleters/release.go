package deleters

import (
	"cmp"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Remarks returns what a person should know at the start: that the rules were not measured for the
// server's release, what is left to others, and what cannot be read. It fails for an unknown
// version.
func (d *Deleters) Remarks() (remarks []string, err error) {
	of := d.release()
	if of == 0 {
		return nil, fmt.Errorf("the API server says that its version is %q: that is no release of Kubernetes", d.version)
	}
	if of.Nearest() != of {
		remarks = append(remarks, fmt.Sprintf("the API server is %s: the rules of the nearest release from %s to %s are followed", d.version, release.Oldest, release.Newest))
	}
	remarks = append(remarks, d.others.remarks()...)
	for _, why := range d.unknown() {
		remarks = append(remarks, "nothing settles until this is mended: "+plain(why))
	}
	return remarks, nil
}

// release returns the release of the server, or the emulated one; 0 if unknown.
func (d *Deleters) release() release.Minor { return release.MinorOf(cmp.Or(d.emulated, d.version)) }
