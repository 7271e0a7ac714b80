package lost

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
)

// tries is how often a state happens once more: what controllers do is a matter of moments, so
// one of the times has to show that a delete changed nothing.
const tries = 3

// reenact tells deletes that changed nothing from those that were missed.
func reenact(ctx context.Context, open []*verdict) error {
	for try := range tries {
		var list []*state
		for _, v := range open {
			s := draw(*seed, v.number, "r"+strconv.Itoa(v.number)+"t"+strconv.Itoa(try))
			s.without = map[int]bool{}
			for _, t := range v.things {
				if slices.ContainsFunc(v.absent, func(r *request) bool { return r.at == t.place() }) {
					s.without[t.number] = true
				}
			}
			list = append(list, s)
		}
		if len(list) == 0 {
			return nil
		}
		if _, err := happen(ctx, list); err != nil {
			return err
		}
		var rest []*verdict
		for i, v := range open {
			fate, err := list[i].become(ctx)
			if err != nil {
				return err
			}
			if maps.Equal(fate, v.fates) {
				v.fall(redundant, "the same goes without that")
			} else {
				rest = append(rest, v)
				v.notes = append(v.notes, fmt.Sprintf("without it: %s", differences(list[i], v.fates, fate)))
			}
		}
		if err := each(list, func(s *state) error { return s.release(ctx) }); err != nil {
			return err
		}
		open = rest
	}
	for _, v := range open {
		v.fall(missed, "something stays without that")
	}
	return nil
}

// differences are the objects of which not the same became.
func differences(s *state, with, without map[int]string) string {
	text := ""
	for _, t := range s.things {
		if x, y := with[t.number], without[t.number]; x != y {
			text += fmt.Sprintf(" %s %s %q rather than %q;", t.kind.kind, t.name, y, x)
		}
	}
	return text
}

// become is what became of the objects of a state: of those that stay, by what they are owned,
// and whether they were made anew.
func (s *state) become(ctx context.Context) (map[int]string, error) {
	fates := map[int]string{}
	for _, t := range s.things {
		got, err := send(ctx, "", http.MethodGet, t.path(), nil)
		if err != nil {
			return nil, err
		}
		if got.code != http.StatusOK || got.Metadata.DeletionTimestamp != "" {
			continue
		}
		number := map[string]int{}
		for _, o := range s.things {
			number[o.kind.kind+" "+o.name] = o.number
		}
		var owners []int
		for _, o := range got.Metadata.OwnerReferences {
			owners = append(owners, number[o.Kind+" "+o.Name])
		}
		slices.Sort(owners)
		fates[t.number] = fmt.Sprint(owners, got.Metadata.UID == t.uid)
	}
	return fates, nil
}
