package shapes

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Commands are the command lines that are asked of the cluster, without the --from that
// says where it is.
func (c *Cluster) Commands() [][]string {
	commands := [][]string{
		{"check"},
		{"stuck", "-A"},
		{"doctor"},
		{"collect"},
		{"risk", "--top", "10"},
		{"graph"},
		{"graph", "-o", "json"},
		{"graph", "-o", "svg"},
		{"snapshot", "--to", "-"},
		{"__complete", "explain", "pods", "-n", c.Namespace, ""},
		c.about(c.Middle, "graph"),
		c.about(c.Middle, "explain"),
		c.about(c.Root, "explain"),
	}
	for _, asked := range c.Asked {
		commands = append(commands, c.about(asked, "explain"))
	}
	commands = append(commands,
		c.about(c.Middle, "dry-run", "delete"),
		c.about(c.Root, "dry-run", "delete"),
		append(c.about(c.Root, "dry-run", "delete"), "-o", "json"),
		append(c.about(c.Root, "dry-run", "delete"), "--steps"),
		append(c.about(c.Root, "dry-run", "delete"), "--cascade=foreground"),
		append(c.about(c.Root, "dry-run", "delete"), "--cascade=orphan"),
		[]string{"dry-run", "delete", "nodes", "node-0001", "--ignore-not-found"},
		[]string{"dry-run", "delete", "pods", "--all", "-n", c.Namespace},
	)
	return append(commands, c.extra...)
}

// about is a command about an object.
func (c *Cluster) about(ref object.Ref, words ...string) []string {
	name := ref.Kind
	if r, err := c.Resources.For(ref.APIVersion, ref.Kind); err == nil {
		name = r.GroupResource().String()
	}
	words = append(words, fmt.Sprintf("%s/%s", name, ref.Name))
	if ref.Namespace != "" {
		words = append(words, "-n", ref.Namespace)
	}
	return words
}
