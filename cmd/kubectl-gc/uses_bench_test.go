package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkUses measures the least CPU time of commands over lists of 100,000 objects, in 50 namespaces
// with applications of 20 objects, which name Secrets, ConfigMaps, accounts and Services.
func BenchmarkUses(b *testing.B) {
	dump := b.TempDir()
	writeApplications(b, dump, 5000)
	for _, args := range [][]string{
		{"check"}, {"check", "--references"}, {"dry-run", "delete", "secret/app-70-0", "-n", "shop-20"}, {"dry-run", "delete", "ns/shop-20"},
	} {
		b.Run(strings.Join(args, " "), func(b *testing.B) {
			var took time.Duration
			for b.Loop() {
				took = least(took, processor(b, append(args, "--treat-missing-as-absent", "--from", dump)...))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(took)/1e6, "cpu-ms")
		})
	}
}

// writeApplications writes a list of each kind.
func writeApplications(tb testing.TB, dir string, applications int) {
	tb.Helper()
	lists := map[string]*bytes.Buffer{}
	add := func(apiVersion, kind, ns, name, owner, more string) string {
		text := lists[kind]
		if text == nil {
			text = bytes.NewBufferString(`{"apiVersion":"v1","kind":"List","items":[`)
			lists[kind] = text
		} else {
			text.WriteByte(',')
		}
		uid := kind + "/" + ns + "/" + name
		fmt.Fprintf(text, `{"apiVersion":%q,"kind":%q,"metadata":{"namespace":%q,"name":%q,"uid":%q,"labels":{"app":%q},"ownerReferences":[%s]},%s}`,
			apiVersion, kind, ns, name, uid, strings.Join(strings.Split(name, "-")[:2], "-"), owner, more)
		return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q,"controller":true}`, apiVersion, kind, name, uid)
	}
	for n := range 50 {
		add("v1", "Namespace", "", fmt.Sprintf("shop-%d", n), "", `"status":{"phase":"Active"}`)
	}
	for i := range applications {
		ns, app := fmt.Sprintf("shop-%d", i%50), fmt.Sprintf("app-%d", i)
		variables := strings.Repeat(`{"name":"SETTING","value":"0123456789012345678901234567890123456789"},`, 12)
		pod := fmt.Sprintf(`"spec":{"serviceAccountName":%[1]q,"imagePullSecrets":[{"name":"%[1]s-3"}],"volumes":[{"name":"v","secret":{"secretName":"%[1]s-2"}},{"name":"w","configMap":{"name":"%[1]s-1"}}],
"containers":[{"name":"c","image":"registry.example.com/c:1","envFrom":[{"secretRef":{"name":"%[1]s-0"}},{"configMapRef":{"name":"%[1]s-0"}}],"env":[%[2]s{"name":"P","valueFrom":{"secretKeyRef":{"name":"%[1]s-1","key":"p"}}}]}]}`, app, variables)
		template := `"spec":{"replicas":6,"template":{"metadata":{"labels":{"app":"` + app + `"}},` + pod + `}}`
		deployment := add("apps/v1", "Deployment", ns, app, "", template)
		set := add("apps/v1", "ReplicaSet", ns, app+"-1", deployment, template)
		for k := range 6 {
			add("v1", "Pod", ns, fmt.Sprintf("%s-1-%d", app, k), set, pod+`,"status":{"phase":"Running","message":"`+strings.Repeat("s", 600)+`"}`)
		}
		add("v1", "Service", ns, app, "", `"spec":{"selector":{"app":"`+app+`"}}`)
		add("v1", "ServiceAccount", ns, app, "", `"secrets":[]`)
		add("networking.k8s.io/v1", "Ingress", ns, app, "", `"spec":{"tls":[{"secretName":"`+app+`-4"}],"defaultBackend":{"service":{"name":"`+app+`"}}}`)
		for k := range 5 {
			name := fmt.Sprintf("%s-%d", app, k)
			add("v1", "Secret", ns, name, "", `"data":{"p":"`+strings.Repeat("c2Vj", 100)+`"}`)
			if k < 4 {
				add("v1", "ConfigMap", ns, name, "", `"data":{"p":"`+strings.Repeat("d", 800)+`"}`)
			}
		}
	}
	for kind, text := range lists {
		text.WriteString("]}")
		if err := os.WriteFile(filepath.Join(dir, strings.ToLower(kind)+".json"), text.Bytes(), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}
