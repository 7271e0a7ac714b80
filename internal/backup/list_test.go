package backup

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestList: the newest backup comes first, an unfinished one says so, and a missing directory has
// no backups.
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

// TestListWithinASecond: among two backups of one second, the one finished later is newer, whatever
// their digests are.
func TestListWithinASecond(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 11, 22, 22, 17, 24, 0, time.UTC)
	for i, name := range []string{"20261122T221724Z-bbbbbbbb", "20261122T221724Z-aaaaaaaa", "20261122T221724Z-cccccccc"} {
		manifest := filepath.Join(dir, name, manifestName)
		if err := os.Mkdir(filepath.Dir(manifest), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(manifest, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(manifest, at, at.Add(time.Duration(i)*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := List(dir)
	if err != nil || len(list) != 3 || list[0].Name[17:] != "cccccccc" || list[1].Name[17:] != "aaaaaaaa" || list[2].Name[17:] != "bbbbbbbb" {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestListNamesWhatWasDeleted: a backup is called by what its run deleted, and not by what it only changed.
func TestListNamesWhatWasDeleted(t *testing.T) {
	dir := backup(t, map[*object.Object]Action{one("v1", "ConfigMap", "a"): Changed, one("v1", "Secret", "b"): Deleted})
	if l := Describe(dir); l.Main.Name != "b" {
		t.Errorf("%+v", l)
	}
}

// TestListSaysWhatAndDone: the list shows the content of a backup, and whether it was undone.
func TestListSaysWhatAndDone(t *testing.T) {
	space := &object.Object{Ref: object.Namespace.Ref("", "gone"), ResourceVersion: "1"}
	space.UID = "u-gone"
	s, client := testCluster(t)
	dir := backup(t, map[*object.Object]Action{one("v1", "ConfigMap", "a"): Deleted, space: Deleted})
	listed := func() Listed {
		t.Helper()
		list, err := List(filepath.Dir(dir))
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		return list[0]
	}
	if l := listed(); l.Main != space.Ref || l.Objects != 2 || !l.Undone.IsZero() || l.Partly {
		t.Errorf("%+v", l)
	}
	s.forbidden = []string{"create configmaps"}
	if _, err := planned(t, client, dir).Run(t.Context(), clock); err != nil {
		t.Fatal(err)
	}
	if l := listed(); !l.Undone.Equal(clock.Now()) || !l.Partly {
		t.Errorf("%+v", l)
	}
	s.forbidden = nil
	if _, err := planned(t, client, dir).Run(t.Context(), clock); err != nil {
		t.Fatal(err)
	}
	if l := listed(); l.Undone.IsZero() || l.Partly {
		t.Errorf("%+v", l)
	}
	if err := Remove(filepath.Dir(dir)); err == nil {
		t.Error("a directory that is no backup is removed")
	}
	if err := Remove(dir); err != nil {
		t.Error(err)
	}
	if list, err := List(filepath.Dir(dir)); len(list) != 0 || err != nil {
		t.Errorf("%+v, %v", list, err)
	}
}
