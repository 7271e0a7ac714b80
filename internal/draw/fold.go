package draw

import (
	"slices"
	"strconv"
	"strings"
)

// fewest is the minimum number of objects that are drawn as one.
const fewest = 4

// likeness is the key of objects that are drawn as one.
type likeness struct {
	apiVersion, kind, namespace string
	look                        Look
	note, alike, owners         string
}

// fold merges figures with the same kind, look and owners and without dependents. Targets are not
// merged.
func (f *figures) fold() {
	owners, leaf := make([]strings.Builder, len(f.list)), slices.Repeat([]bool{true}, len(f.list))
	for _, l := range f.lines {
		leaf[l.owner] = false
		// Lines are sorted, so that the same owners give the same text.
		o := &owners[l.dependent]
		for _, n := range [...]int{l.owner, bit(l.controller), bit(l.blocks), bit(l.removed)} {
			o.WriteString(strconv.Itoa(n))
			o.WriteByte(' ')
		}
		o.WriteString(string(l.class))
		o.WriteByte('\n')
	}
	alike, order := map[likeness][]int{}, []likeness{}
	for i := range f.list {
		if x := &f.list[i]; leaf[i] && !x.target {
			r := x.refs[0]
			key := likeness{r.APIVersion, r.Kind, r.Namespace, x.look, x.note, x.alike, owners[i].String()}
			if alike[key] == nil {
				order = append(order, key)
			}
			alike[key] = append(alike[key], i)
		}
	}
	wanted := slices.Repeat([]bool{true}, len(f.list))
	for _, key := range order {
		same := alike[key]
		if len(same) < fewest {
			continue
		}
		one := &f.list[same[0]]
		for _, i := range same[1:] {
			one.refs = append(one.refs, f.list[i].refs...)
			wanted[i] = false
		}
	}
	f.keep(wanted)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// prefix returns the common prefix of names.
func prefix(names []string) string {
	shared := names[0]
	for _, name := range names[1:] {
		n := 0
		for n < len(shared) && n < len(name) && shared[n] == name[n] {
			n++
		}
		shared = shared[:n]
	}
	return strings.ToValidUTF8(shared, "")
}
