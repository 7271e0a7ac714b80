package draw

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// UnmarshalJSON reads the JSON of a page.
func (l *sparse[T]) UnmarshalJSON(text []byte) error {
	var byNumber map[int]T
	if err := json.Unmarshal(text, &byNumber); err != nil {
		return err
	}
	*l = nil
	for _, number := range slices.Sorted(maps.Keys(byNumber)) {
		l.add(number, byNumber[number])
	}
	return nil
}

// The streamed output equals that of encoding/json, to the byte.
func TestPackedPagesAreWrittenAsJSON(t *testing.T) {
	plan := func(d Document) *report.Plan {
		p := &report.Plan{Steps: []report.Step{{N: 1, Actor: "user", Verb: "DELETE", Object: d.Scene.Boxes[0].Refs[0]}}}
		for i := range d.Scene.Boxes {
			e := report.Effect{Object: d.Scene.Boxes[i].Refs[0], Outcome: report.Deleted, Reason: "Requested", Message: "<&\u2028>"}
			if i%3 == 1 {
				e.Because = []report.Ref{d.Scene.Boxes[i-1].Refs[0]}
				e.BlockedBy = &report.BlockedBy{Node: "n"}
			}
			p.Effects = append(p.Effects, e)
			d.Scene.Boxes[i].Why, d.Scene.Boxes[i].Note = "why"+strconv.Itoa(i%2), "<a>"
		}
		return p
	}
	for name, count := range map[string]int{"one row": 1, "rows": 25, "more than a piece": 8_000} {
		for _, planned := range []bool{false, true} {
			t.Run(name+" "+strconv.FormatBool(planned), func(t *testing.T) {
				d := rows(count, numbered)
				if planned {
					d.Plan = plan(d)
				}
				data, err := payloadOf(d)
				if err != nil {
					t.Fatal(err)
				}
				p := pack(data)
				want, err := json.Marshal(p)
				if err != nil {
					t.Fatal(err)
				}
				var got bytes.Buffer
				if err := writeJSON(&got, p); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(want, got.Bytes()) {
					t.Errorf("written is %.300s\nwant       %.300s", got.Bytes(), want)
				}
			})
		}
	}
}

// Numbers are in the order of the keys of a map.
func TestSparseIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.MapOf(rapid.IntRange(0, 1_200), rapid.String()).Draw(t, "values")
		byKey, list := map[string]string{}, sparse[string]{}
		for _, number := range slices.Sorted(maps.Keys(values)) {
			byKey[strconv.Itoa(number)] = values[number]
			list.add(number, values[number])
		}
		want, err := json.Marshal(byKey)
		if err != nil {
			t.Fatal(err)
		}
		small, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		w := jsonWriter{out: &out}
		list.writeJSON(&w)
		w.flush()
		if d := cmp.Diff(string(want), string(small)); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(string(want), out.String()); d != "" {
			t.Error(d)
		}
	})
}
