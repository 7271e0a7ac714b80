package snapshot

import (
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestCutOff: a missing file may have been in the lost rest of a truncated archive. Its absence
// proves nothing, whatever queries the dump logs.
func TestCutOff(t *testing.T) {
	for name, questions := range map[string][]string{
		"support_bundle_custom": {"regions.example.com", "carts.example.com pay"},
	} {
		t.Run(name, func(t *testing.T) {
			d := readDump(t, "testdata/dumps/"+name+".txtar")
			last := txtar.File{Name: "zz/core_v1_secrets.json", Data: []byte(strings.Repeat(" ", 4096))}
			whole := tarOf(t, append(slices.Clone(d.files), last))
			for cut, want := range map[int]bool{0: true, 3000: false} {
				s, err := readBytes(whole[:len(whole)-cut], Options{AllowPartial: true})
				if err != nil {
					t.Fatal(err)
				}
				for _, q := range questions {
					if got := strings.Contains(answer(s, q), ": covered"); got != want {
						t.Errorf("%d bytes missing: %s", cut, answer(s, q))
					}
				}
			}
		})
	}
}
