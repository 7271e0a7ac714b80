package cluster

import (
	"net/http"
	"testing"
)

// After a restore there is what there was at the time of the backup, in the same
// versions, at the same address; before a backup there is nothing to restore.
func backup(t *testing.T, c *Cluster) {
	if err := c.Restore(); err == nil {
		t.Error("a backup was restored that nobody made")
	}
	const all, one = "/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/default/configmaps/kept"
	kept, err := c.Do(t.Context(), http.MethodPost, all, "application/json", []byte(`{"metadata":{"name":"kept"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Backup(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), http.MethodDelete, one, "", nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Restore(); err != nil {
		t.Fatal(err)
	}
	back, err := c.Do(t.Context(), http.MethodGet, one, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if v, w := version(t, kept), version(t, back); v != w {
		t.Errorf("it was at version %s and came back at %s", v, w)
	}
}
