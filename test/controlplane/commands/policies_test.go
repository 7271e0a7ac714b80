package commands

import (
	"strings"
	"testing"
)

// onNames is a policy that denies the delete of objects of one name, and one that asks for data.
const onNames = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: foreseen}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}
  matchConditions: [{name: named, expression: "oldObject.metadata.name in ['kept', 'sized']"}]
  variables: [{name: sized, expression: "oldObject.metadata.name == 'sized'"}]
  validations:
  - {expression: "variables.sized ? !has(oldObject.data) : oldObject.metadata.?labels.?free.orValue('') == 'yes'", message: the label free has to be set first}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: foreseen-here}
spec: {policyName: foreseen, validationActions: [Deny]}
`

// TestPolicyForeseen: what a policy denies is in the plan before anything is sent, of the object that
// is asked for and of one that goes with it; what the policy asks for and a plan does not know is
// unknown; and what happens is what was said.
func TestPolicyForeseen(t *testing.T) {
	s := enter(t, collector)
	root := s.configMap("root", "", "")
	s.configMap("kept", "root", root)
	s.configMap("beside", "root", root)
	s.configMap("sized", "", "")
	policy := []byte(strings.ReplaceAll(onNames, "NAMESPACE", s.namespace))
	s.kubectl(policy, "create", "-f", "-")
	defer s.kubectl(policy, "delete", "-f", "-")
	s.until("the policy is in force", func() bool { return s.tryDelete("kept") != nil })

	const denied = "ValidatingAdmissionPolicy 'foreseen' with binding 'foreseen-here' denied request: the label free has to be set first"
	here := "--namespace=" + s.namespace
	s.gc(s.ctx, "dry-run", "delete", "configmap/kept", here, "-o", "wide").want(t, 0, denied)
	s.gc(s.ctx, "explain", "configmap/kept", here, "-o", "wide").want(t, 0, "Its delete is refused: "+denied)
	s.gc(s.ctx, "explain", "configmap/sized", here, "-o", "wide").want(t, 0, "Its delete may be refused: ")
	s.confirmed("delete", "configmap/kept", here).want(t, 5, denied)
	s.gc(s.ctx, "dry-run", "delete", "configmap/sized", here, "-o", "wide").want(t, 0, "'foreseen-here' may refuse it: its expression could not be evaluated: variables.sized")
	s.gc(s.ctx, "dry-run", "delete", "configmap/root", here, "-o", "json").want(t, 0, `"PolicyDenies"`, "denied request: the label free")
	s.confirmed("delete", "configmap/root", here).want(t, 0)
	s.configMaps("kept", "sized")

	s.kubectl(nil, "label", "configmap/kept", "free=yes", "-n", s.namespace)
	s.until("the collector takes it once the policy admits that", func() bool { return s.uid("kept") == "" })
	s.confirmed("delete", "configmap/sized", here).want(t, 0)
	s.configMaps()
}

// onUsers is a policy that lets one user delete.
const onUsers = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: by-user}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}
  validations:
  - {expression: "request.userInfo.username == 'ann' || 'admins' in request.userInfo.groups", message: only ann deletes here}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: by-user-here}
spec: {policyName: by-user, validationActions: [Deny]}
`

// TestPolicyOnUsers: what a policy says about the user that sends the DELETE is in the plan, and is what
// the server says. With --as it is about the user that is impersonated. As which user the collector
// sends its own is not known.
func TestPolicyOnUsers(t *testing.T) {
	s := enter(t, collector)
	root := s.configMap("root", "", "")
	s.configMap("child", "root", root)
	policy := []byte(strings.ReplaceAll(onUsers, "NAMESPACE", s.namespace))
	s.kubectl(policy, "create", "-f", "-")
	defer s.kubectl(policy, "delete", "-f", "-")
	s.until("the policy is in force", func() bool { return s.tryDelete("root") != nil })

	const denied = "ValidatingAdmissionPolicy 'by-user' with binding 'by-user-here' denied request: only ann deletes here"
	here := "--namespace=" + s.namespace
	for _, as := range []string{"--as=bob --as-group=system:masters", "--as=ann --as-group=system:masters", "--as=bob --as-group=system:masters --as-group=admins"} {
		args := append(strings.Fields(as), "dry-run", "delete", "configmap/root", here, "-o", "json")
		want, surely := []string{`"PolicyUnknown"`, `"Deleted"`}, `"RequestRefused"`
		if strings.HasPrefix(as, "--as=bob") && !strings.Contains(as, "admins") {
			want, surely = []string{`"RequestRefused"`, denied}, `"PolicyUnknown"`
		}
		a := s.gc(s.ctx, args...)
		a.want(t, 0, want...)
		if strings.Contains(a.stdout, surely) {
			t.Errorf("%s: %s is said\n%s", as, surely, a.stdout)
		}
	}
	s.confirmed("--as=bob", "--as-group=system:masters", "delete", "configmap/root", here).want(t, 5, denied)
	s.configMaps("child", "root")
	s.confirmed("--as=ann", "--as-group=system:masters", "delete", "configmap/root", "--cascade=orphan", here).want(t, 0)
	s.configMaps("child")
}
