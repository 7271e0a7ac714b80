package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestTable: the table that is committed can be read.
func TestTable(t *testing.T) {
	rows, err := parse(controllers)
	if err != nil || len(rows) < 50 {
		t.Errorf("%d rows: %v", len(rows), err)
	}
}

// TestFaults: a table that leaves something open is refused.
func TestFaults(t *testing.T) {
	for name, test := range map[string]struct{ row, want string }{
		"no reason":      {"kubelet\tx\tx.go\tpods\t-\t-\t-\t-", "nothing says why"},
		"idle, modelled": {"kubelet\tx\tx.go\t-\t-\t-\tx.go\twrites", "does nothing, and is modelled"},
		"empty":          {"kubelet\tx\tx.go\t\t-\t-\t-\twrites", "empty column"},
		"short":          {"kubelet\tx\tx.go", "has 3 columns"},
		"twice":          {"kubelet\tx\tx.go\t-\t-\t-\t-\twrites\nkubelet\tx\tx.go\t-\t-\t-\t-\twrites", "there twice"},
	} {
		if _, err := parse(header + "\n" + test.row + "\n"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := parse("component\n"); err == nil {
		t.Error("other columns are read")
	}
}

// TestModelled: a file that is not there, and a controller that no row names, are found.
func TestModelled(t *testing.T) {
	const step = "func (k *kubelet) Step(ctx context.Context, w World) (bool, error) {"
	here := fstest.MapFS{"internal/apisim/controllers/pods.go": {Data: []byte(step)}, "internal/apisim/controllers/doc.go": {}}
	for name, test := range map[string]struct {
		rows []row
		want string
	}{
		"right":   {[]row{{name: "x", files: []string{"internal/apisim/controllers/pods.go"}}}, ""},
		"missing": {[]row{{name: "x", files: []string{"internal/apisim/controllers/nodes.go"}}}, "file does not exist"},
		"unknown": {nil, "internal/apisim/controllers/pods.go has a controller"},
	} {
		err := modelled(here, test.rows)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
