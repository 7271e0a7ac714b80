package snapshot

import (
	"encoding/json"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
)

// TestOlderFilesLeaveUsesUnknown: a file from before claims and Jobs were stored doesn't tell that
// a pod uses no claim, nor what manages a Job.
func TestOlderFilesLeaveUsesUnknown(t *testing.T) {
	for _, line := range []string{
		`{"t":0,"n":"a","pod":{"node":"n1","phase":"Running"}}`,
		`{"t":0,"n":"a","f":["kubernetes.io/pv-protection"]}`,
	} {
		var stored storedObject
		if err := json.Unmarshal([]byte(line), &stored); err != nil {
			t.Fatal(err)
		}
		o := stored.object(typeName{apiVersion: "v1", kind: "Pod"}, manifest.NewInterner())
		if p := o.Pod(); p != nil && (p.VolumesKnown || p.NodeName != "n1") || o.Job() != nil || o.Volume() != nil {
			t.Errorf("%s: %+v", line, o.Lifecycle)
		}
	}
}
