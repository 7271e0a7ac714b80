package interpose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// crossing makes the world of the scenario file: dependents that name an owner
// rightly, and others in another namespace that do not.
func crossing(t *testing.T, c *collector) (good, bad *world) {
	t.Helper()
	good, bad = c.world(t, "s167-good"), c.world(t, "s167-bad")
	uid := good.create("ConfigMap", "owner")
	right, wrong := ref("v1", "ConfigMap", "owner", uid), ref("v1", "Secret", "owner", uid)
	bad.names[uid] = "u"
	var unknown []string
	for i := range 25 {
		unknown = append(unknown, ref("example.org/v1", fmt.Sprintf("Unknown%d", i), "x", fmt.Sprintf("uid-s167-%d", i)))
	}
	good.create("Secret", "a", right)
	good.create("Secret", "b", right)
	bad.create("Secret", "only-wrong-1", wrong)
	bad.create("Secret", "only-wrong-2", wrong)
	bad.create("Secret", "unknown", unknown...)
	bad.create("Secret", "unknown-and-wrong", append(slices.Clone(unknown), wrong)...)
	return good, bad
}

// A collector starts and finds references to kinds that nobody serves, and one
// reference that calls a ConfigMap a Secret of another namespace. What has no other
// reference goes, also when it comes later; nothing else does, not even when the
// collector starts anew.
//
// Shows: S167
func acrossNamespaces(t *testing.T, c *collector) {
	c.end()
	good, bad := crossing(t, c)
	c.start(t)
	bad.gone("Secret", "only-wrong-1")
	bad.gone("Secret", "only-wrong-2")
	uid := ""
	for id, name := range bad.names {
		if name == "u" {
			uid = id
		}
	}
	bad.create("Secret", "late", ref("v1", "Secret", "owner", uid))
	bad.gone("Secret", "late")
	bad.end()
	bad.start(t)
	bad.fence()
	inOrder := func(lines []string) []string {
		for i, l := range lines {
			lines[i] = strings.Replace(l, " bad/", " n/", 1)
		}
		slices.Sort(lines)
		return lines
	}
	bad.asks("s167_cross_namespace_references.txt", 1, writes, inOrder)
	for _, name := range []string{"unknown", "unknown-and-wrong"} {
		bad.stays("Secret", name)
	}
	for _, name := range []string{"a", "b"} {
		good.stays("Secret", name)
	}
	good.stays("ConfigMap", "owner")
}
