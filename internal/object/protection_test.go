package object

import "testing"

func TestProtection(t *testing.T) {
	const protect, policy = ProtectAnnotation, ResourcePolicyAnnotation
	for _, c := range []struct {
		annotations map[string]string
		want        Protection
	}{
		{nil, 0},
		{map[string]string{}, 0},
		{map[string]string{"kubectl-gc.io/force": "true"}, 0},
		{map[string]string{protect: "true"}, Protect},
		{map[string]string{protect: "yes"}, Protect},
		{map[string]string{protect: ""}, Protect},
		{map[string]string{protect: "false"}, 0},
		{map[string]string{protect: "False"}, Protect},
		{map[string]string{protect: "FALSE"}, Protect},
		{map[string]string{protect: " false"}, Protect},
		{map[string]string{protect: "false\n"}, Protect},
		{map[string]string{policy: "keep"}, HelmKeep | ArgoHelmKeep},
		{map[string]string{policy: " Keep\n"}, HelmKeep},
		{map[string]string{policy: "delete"}, 0},
		{map[string]string{policy: ""}, 0},
		{map[string]string{policy: "keep", protect: "true"}, HelmKeep | ArgoHelmKeep | Protect},
		{map[string]string{policy: "other, keep"}, ArgoHelmKeep},
		{map[string]string{policy: "KEEP,"}, 0},
		{map[string]string{"Kubectl-GC.io/protect": "true"}, 0},
		{map[string]string{ArgoPausedKey: "1", CrossplanePausedKey: "true", ClusterAPIPausedKey: ""}, ArgoPaused | CrossplanePaused | ClusterAPIPaused},
		{map[string]string{ArgoPausedKey: "yes", CrossplanePausedKey: "True"}, 0},
	} {
		if got := ProtectionOf(c.annotations); got != c.want {
			t.Errorf("%v: %b, want %b", c.annotations, got, c.want)
		}
	}
	if both := Protect | HelmKeep; !both.Has(HelmKeep) || Protect.Has(HelmKeep) {
		t.Error("Has does not tell them apart")
	}
}

// TestProtectionIsContent: two objects that differ in protection alone are not
// equal.
func TestProtectionIsContent(t *testing.T) {
	a := &Object{Ref: Ref{Kind: "Pod", Name: "a"}}
	b := a.Clone()
	b.Edit().Protection = Protect
	if Equal(a, b) || a.Protection() != 0 || b.Protection() != Protect {
		t.Errorf("%b and %b are equal", a.Protection(), b.Protection())
	}
}

func TestTrackerBy(t *testing.T) {
	for value, want := range map[string]string{"": "", "web": "", ":": "", "web:apps/Deployment:shop/web": "web", "team_web:/ConfigMap:shop/a": "team_web"} {
		if got := TrackerBy(value); got != want || string(TrackerBy([]byte(value))) != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func TestRevisionBy(t *testing.T) {
	for value, want := range map[string]uint32{"": 0, "7": 7, "0": 0, "-1": 0, "4294967295": 4294967295, "4294967296": 0, "+7": 0, "7x": 0, "x": 0} {
		if got := RevisionBy(value); got != want {
			t.Errorf("%q: %d, want %d", value, got, want)
		}
	}
}

// TestApproval checks that a confirmation counts from the second of the deletion on.
func TestApproval(t *testing.T) {
	const deleted = 1777629600 // 2026-05-01T10:00:00Z
	for _, tt := range []struct {
		value   string
		deleted int64
		want    Protection
	}{
		{"2026-05-01T10:00:00Z", deleted, ArgoApproved},
		{"2026-05-01T12:00:01+02:00", deleted, ArgoApproved},
		{"2026-05-01T09:59:59Z", deleted, 0},
		{"2026-05-01T10:00:00Z", 0, 0},
		{"yes", deleted, 0},
		{"", deleted, 0},
	} {
		if got := ApprovalBy(tt.value, tt.deleted); got != tt.want {
			t.Errorf("%q of a deletion at %d: %b", tt.value, tt.deleted, got)
		}
	}
}
