package restore

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// Somebody has applied the CRD again, and its instances had come since history begins: what was
// in a namespace is told, and the command that is told brings that back and nothing else.
func TestDefinitionMadeAgainWithoutBackup(t *testing.T) {
	const namespace, other = "shop-q", "shop-r"
	s := enter(t)
	since := s.revision()
	before := s.lit(namespace)
	s.lit(other)
	s.kubectl("", "delete", "crd/lamps.undo.example.com")
	for _, ns := range []string{namespace, other} {
		s.gone("/api/v1/namespaces/" + ns + "/configmaps/below-4")
		cluster.Until(t, "what the instances owned is gone", func() bool {
			return s.kubectl("", "get", "configmaps", "-n", ns, "-o", "name") == "configmap/kube-root-ca.crt"
		})
	}
	s.define()
	u := s.remembered("--since-revision="+since, "-n", namespace)
	told := 0
	for i := range u.Lost.Losses {
		if l := &u.Lost.Losses[i]; before[keyOf(l.Object.APIVersion, l.Object.Kind, l.Object.Namespace, l.Object.Name)] != nil {
			told++
		}
	}
	if told != len(before) {
		t.Errorf("%d of %d objects are told: %+v", told, len(before), u.Lost.Losses)
	}
	if len(u.Lost.Remedies) != 1 || !strings.HasSuffix(u.Lost.Remedies[0].Command, " -n "+namespace) {
		t.Errorf("%+v", u.Lost.Remedies)
	}
	u = s.undone(u.Bundle)
	s.back(before, u, func() objects { return s.inNamespace(namespace) })
	if left := s.kubectl("", "get", "lamps", "-n", other, "-o", "name"); left != "" {
		t.Errorf("and in another namespace: %s", left)
	}

	s.kubectl("", "delete", "crd/lamps.undo.example.com")
	s.kubectl(strings.Replace(definitions[:strings.Index(definitions, "---")], "name: v1", "name: v9", 1), "apply", "-f", "-")
	var gap bool
	for _, g := range s.remembered("--since-revision="+since, "-n", namespace).Lost.Gaps {
		gap = gap || g.Resource == "lamps" && g.APIVersion == "undo.example.com/v1" && g.Why == "CRDVersionGone"
	}
	if !gap {
		t.Error("nothing is said of a version that is not served any more")
	}
	s.kubectl("", "delete", "crd/lamps.undo.example.com")
	s.kubectl("", "delete", "namespace/"+namespace, "namespace/"+other, "--wait=false")
}
