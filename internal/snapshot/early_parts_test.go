package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawList draws the text of a list, which may have something wrong with it.
func drawList(t *rapid.T) string {
	items := rapid.SliceOfN(rapid.SampledFrom([]string{"pods", "nodes", "events", "other", "nameless", "no object"}), 1, 9).Draw(t, "items")
	for i, item := range items {
		items[i] = strings.ReplaceAll(filesOfDumps[item], `"uid":"`, fmt.Sprintf(`"uid":"%d-`, i))
	}
	list := `{"apiVersion":"v1","kind":"List","metadata":{},"items":[` + strings.Join(items, ",\n") + "]}"
	if rapid.Bool().Draw(t, "YAML") {
		list = "apiVersion: v1\nitems:\n" + strings.Repeat("- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n    namespace: shop\n    uid: x\n", len(items)) +
			"kind: List\nmetadata:\n  resourceVersion: \"\"\n"
	}
	if at := rapid.IntRange(0, 2*len(list)).Draw(t, "cut"); at < len(list) {
		return list[:at] + rapid.SampledFrom([]string{"", "]", "}", "\"", "x", "\n"}).Draw(t, "instead") + list[min(at+1, len(list)):]
	}
	return list
}

// TestInParts: what is read of a file is the same in however many parts it is read, and so is what is
// wrong with it.
func TestInParts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list")
	read, failed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		if err := os.WriteFile(file, []byte(drawList(t)), 0o600); err != nil {
			t.Fatal(err)
		}
		o := Options{AllowPartial: rapid.Bool().Draw(t, "partial"), Memory: func(int64, int, Limits) error { return nil }}
		if rapid.IntRange(0, 9).Draw(t, "small") == 0 {
			o.Limits.TotalBytes = 200
		}
		want, wantErr := readWith(t, o, file, 1)
		for _, workers := range []int{2, 3} {
			got, err := readWith(t, o, file, workers)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("%d parts at a time: %v, and in one: %v", workers, err, wantErr)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("(-in one +%d parts at a time):\n%s", workers, diff)
			}
		}
		if read++; wantErr != nil {
			failed++
		}
	})
	if failed == 0 || failed == read {
		t.Errorf("%d of %d files could not be read", failed, read)
	}
}

// TestInPartsIsTold: a large list is read in parts, and nothing else.
func TestInPartsIsTold(t *testing.T) {
	pods := strings.Repeat(`{"metadata":{"name":"a","uid":"1"}},`, 40)
	list := `{"apiVersion":"v1","kind":"PodList","items":[` + pods[:len(pods)-1] + "]}"
	for _, c := range []struct {
		name, content string
		from          int64
		want          bool
	}{
		{"large", list, int64(len(list)), true},
		{"small", list, int64(len(list)) + 1, false},
		{"cut", list[:len(list)-1], 1, false},
		{"one item", filesOfDumps["events"], 1, false},
		{"no list", filesOfDumps["other"], 1, false},
		{"no object", filesOfDumps["text"], 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "list")
			if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := newReader(Options{})
			if err != nil {
				t.Fatal(err)
			}
			r.workers, r.partsFrom = 2, c.from
			done := r.readInParts(&input{name: file}, file)
			if told := done != nil; told != c.want {
				t.Errorf("read in parts: %t", told)
			}
			if done != nil {
				done()
			}
			if r.early != nil || r.ahead.Load() != 0 {
				t.Errorf("%d objects are still ahead", r.ahead.Load())
			}
		})
	}
}
