package cluster

import (
	"fmt"
	"os"
	"testing"
)

// Main runs the tests of a package, which share a control plane, and returns the code
// to exit with.
func Main(m *testing.M, shared **Cluster, options ...Option) (code int) {
	c, err := Start(options...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	*shared = c
	defer func() {
		if err := c.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	return m.Run()
}
