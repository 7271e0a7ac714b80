package cluster

import (
	"fmt"
	"os/exec"
	"strings"
)

// KnownControllers are the names of all controllers of the controller manager, those
// that are off by default too, as it says in its help.
//
// Upstream: cmd/kube-controller-manager/app/controller_descriptor.go NewControllerDescriptors.
func KnownControllers() ([]string, error) {
	path, err := binary()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, "kube-controller-manager", "--help")
	if _, err := cmd.StdinPipe(); err != nil { // it ends when nobody holds the other side
		return nil, err
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	const before = "All controllers: "
	for line := range strings.Lines(string(out)) {
		if list, ok := strings.CutPrefix(strings.TrimSpace(line), before); ok {
			return strings.Split(list, ", "), nil
		}
	}
	return nil, fmt.Errorf("no line of its help begins with %q:\n%s", before, out)
}
