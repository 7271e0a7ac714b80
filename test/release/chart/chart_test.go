package chart

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
)

// values of every option that adds or changes something.
func everything() map[string]any {
	return map[string]any{
		"mode": "enforce", "rules": "upstream", "replicas": 3,
		"image":        map[string]any{"repository": "registry.example/gc", "digest": "sha256:" + strings.Repeat("0a", 32), "pullSecrets": []any{map[string]any{"name": "pull"}}},
		"limits":       map[string]any{"deleteQPS": 0.5, "maxDeletesPerMinute": 5000000},
		"unlock":       []any{"pvc"},
		"nodeSelector": map[string]any{"kubernetes.io/os": "linux"},
		"tolerations":  []any{map[string]any{"operator": "Exists"}},
		"affinity":     map[string]any{"nodeAffinity": map[string]any{}}, "priorityClassName": "system-cluster-critical",
		"namespace":      map[string]any{"create": true},
		"networkPolicy":  map[string]any{"enabled": true, "from": []any{map[string]any{"namespaceSelector": map[string]any{}}}, "apiServer": map[string]any{"cidrs": []any{"10.0.0.1/32"}}},
		"serviceMonitor": map[string]any{"enabled": true, "labels": map[string]any{"release": "prometheus"}},
	}
}

// TestSameAsKustomize wants each field of each object to be the same.
func TestSameAsKustomize(t *testing.T) {
	for _, c := range []struct{ name, dir, mode string }{
		{"observe", deploy, "observe"},
		{"enforce", deploy + "/enforce", "enforce"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, err := kustomized(c.dir)
			if err != nil {
				t.Fatal(err)
			}
			got := render(t, map[string]any{"mode": c.mode, "namespace": map[string]any{"create": true}})
			if len(want) < 10 {
				t.Fatalf("kustomize gives %d objects", len(want))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("helm differs from kustomize (-kustomize +helm):\n%s", diff)
			}
		})
	}
}

// TestTypes reads every object into the type of Kubernetes; a field that the type
// does not have is an error.
func TestTypes(t *testing.T) {
	strict := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	all := render(t, everything())
	foreign := 0
	for name, object := range all {
		if strings.HasPrefix(name, "monitoring.coreos.com/") {
			foreign++
			continue
		}
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := strict.Decode(text, nil, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if foreign != 1 {
		t.Errorf("%d objects of the operator of Prometheus, want 1", foreign)
	}
}

func TestOptions(t *testing.T) {
	all := render(t, everything())
	pod := at(t, all.one(t, "Deployment"), "spec", "template", "spec").(map[string]any)
	container := pod["containers"].([]any)[0].(map[string]any)
	if got, want := container["image"], "registry.example/gc@sha256:"+strings.Repeat("0a", 32); got != want {
		t.Errorf("image %v, want %s", got, want)
	}
	args := container["args"].([]any)
	for _, want := range []string{"--mode=enforce", "--rules=upstream", "--delete-qps=0.5", "--max-deletes-per-minute=5000000", "--unlock=pvc"} {
		if !slices.Contains(args, any(want)) {
			t.Errorf("%s is not among %v", want, args)
		}
	}
	for _, field := range []string{"imagePullSecrets", "nodeSelector", "tolerations", "affinity", "priorityClassName"} {
		if pod[field] == nil {
			t.Errorf("the pod has no %s", field)
		}
	}
	monitor := all.one(t, "ServiceMonitor")
	if got := at(t, monitor, "metadata", "labels", "release"); got != "prometheus" {
		t.Errorf("label %v", got)
	}
	if diff := cmp.Diff(at(t, all.one(t, "Service"), "metadata", "labels"), at(t, monitor, "spec", "selector", "matchLabels")); diff != "" {
		t.Errorf("the monitor does not select the service:\n%s", diff)
	}
	text, err := json.Marshal(at(t, all.one(t, "NetworkPolicy"), "spec", "egress"))
	if err != nil || !strings.Contains(string(text), `"10.0.0.1/32"`) {
		t.Errorf("egress %s, error %v", text, err)
	}
}

// TestRights wants no right to write in a mode that must not write, and none to
// anything but metadata ever asked for by name.
func TestRights(t *testing.T) {
	for name, object := range render(t, nil) {
		text, err := json.Marshal(object["rules"])
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"delete"`) || strings.Contains(name, "collector") {
			t.Errorf("%s may delete: %s", name, text)
		}
		if strings.Contains(string(text), `"secrets"`) {
			t.Errorf("%s names secrets: %s", name, text)
		}
	}
}

func TestValuesRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		values map[string]any
		want   string
	}{
		{"another mode", map[string]any{"mode": "delete"}, "mode"},
		{"other rules", map[string]any{"rules": "lax"}, "rules"},
		{"no replica", map[string]any{"replicas": 0}, "replicas"},
		{"a word that is misspelled", map[string]any{"replica": 2}, "replica"},
		{"half a digest", map[string]any{"image": map[string]any{"digest": "sha256:0a"}}, "digest"},
		{"no limit", map[string]any{"limits": map[string]any{"maxDeletesPerMinute": 0}}, "maxDeletesPerMinute"},
		{"more than all", map[string]any{"limits": map[string]any{"maxGarbagePercent": 101}}, "maxGarbagePercent"},
		{"a flag in a kind", map[string]any{"unlock": []any{"A --mode=enforce"}}, "unlock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := rendered(c.values); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestLint(t *testing.T) {
	for _, m := range lint.RunAll(chartDir, everything(), "kubectl-gc").Messages {
		if !strings.Contains(m.Error(), "icon is recommended") {
			t.Error(m)
		}
	}
}
