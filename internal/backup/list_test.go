package backup

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestList: the newest comes first, what was not finished says so, and a directory that
// is not there has no backups.
func TestList(t *testing.T) {
	dir := t.TempDir()
	if list, err := List(filepath.Join(dir, "none")); len(list) > 0 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	for _, name := range []string{"20261121T221724Z-aaaaaaaa", "20261122T221724Z-bbbbbbbb"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "a file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := List(dir)
	if err != nil || len(list) != 2 || list[0].Name != "20261122T221724Z-bbbbbbbb" || !errors.Is(list[0].Unreadable, ErrUnsealed) {
		t.Errorf("%+v, %v", list, err)
	}
}
