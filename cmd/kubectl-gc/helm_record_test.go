package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// helmRecord writes releases of Helm as the Secrets in which it records them: `helm-record web.json`
// writes web.yaml. Helm's own encoding is judged in test/controlplane/helm.
func helmRecord(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: helm-record RELEASE.json…")
	}
	for _, file := range args {
		text := []byte(ts.ReadFile(file))
		var release struct {
			Name, Namespace string
			Version         int
			Info            struct{ Status string }
		}
		ts.Check(json.Unmarshal(text, &release))
		var packed bytes.Buffer
		zip := gzip.NewWriter(&packed)
		_, err := zip.Write(text)
		ts.Check(err)
		ts.Check(zip.Close())
		data := base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(packed.Bytes())))
		secret := fmt.Sprintf(`---
apiVersion: v1
kind: Secret
metadata:
  name: sh.helm.release.v1.%[1]s.v%[3]d
  namespace: %[2]s
  uid: record-%[1]s-%[3]d
  labels: {name: %[1]s, owner: helm, status: %[4]s, version: "%[3]d"}
type: helm.sh/release.v1
data:
  release: %[5]s
`, release.Name, release.Namespace, release.Version, release.Info.Status, data)
		name := ts.MkAbs(strings.TrimSuffix(file, ".json") + ".yaml")
		ts.Check(os.WriteFile(name, []byte(secret), 0o600))
	}
}
