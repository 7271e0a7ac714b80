package past

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/etcdfile"
)

// chronicle has all writes, revision by revision from 1, and the states after them.
type chronicle struct {
	writes []etcdfile.Write
	// states[r] has the objects at revision r by key, with the revision of their last write.
	states []map[string]written
	// tells[r] is true if the write at revision r matters.
	tells []bool
	// renewed[r] is the newest renewal up to r.
	renewed []int64
	uids    int
}

type written struct {
	*thing
	at int
}

func (c *chronicle) write(w etcdfile.Write, x *thing, tells bool) {
	if len(c.states) == 0 {
		c.states, c.tells, c.renewed = []map[string]written{{}}, []bool{false}, []int64{0}
	}
	c.writes = append(c.writes, w)
	now := maps.Clone(c.states[len(c.states)-1])
	if delete(now, w[0]); x != nil {
		now[w[0]] = written{x, len(c.writes)}
	}
	c.states, c.tells = append(c.states, now), append(c.tells, tells)
	c.renewed = append(c.renewed, c.renewed[len(c.renewed)-1])
}

func (c *chronicle) renew(t testing.TB, at int64) {
	c.write(lease(t, at), nil, false)
	c.renewed[len(c.renewed)-1] = at
}

func (c *chronicle) last() int { return len(c.writes) }

// draw draws a chronicle.
func drawChronicle(t testing.TB, r *rapid.T) *chronicle {
	c := &chronicle{}
	c.renew(t, 1000)
	for _, k := range kinds {
		if k.typed == nil {
			c.write(storedDefinition(k), nil, true)
		}
	}
	for range rapid.IntRange(1, 60).Draw(r, "writes") {
		x := &thing{storedKind: rapid.SampledFrom(kinds).Draw(r, "kind")}
		x.meta.Name = rapid.SampledFrom([]string{"a", "b", "ab"}).Draw(r, "name")
		if x.namespaced {
			x.meta.Namespace = rapid.SampledFrom([]string{"a", "shop"}).Draw(r, "namespace")
		}
		was, ok := c.states[c.last()][x.key()]
		switch {
		case rapid.IntRange(0, 5).Draw(r, "clock") == 0:
			c.renew(t, c.renewed[c.last()]+rapid.Int64Range(1, 20).Draw(r, "seconds"))
		case !ok:
			c.uids++
			x.meta.UID = uid(c.uids)
			if rapid.Bool().Draw(r, "owned") {
				owner := rapid.SampledFrom(kinds).Draw(r, "owner")
				x.meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: owner.apiVersion, Kind: owner.kind, Name: "b", UID: "somebody"}}
			}
			c.write(etcdfile.Write{x.key(), x.value(t)}, x, true)
		default:
			c.change(t, r, was.thing)
		}
	}
	return c
}

// change changes an object.
func (c *chronicle) change(t testing.TB, r *rapid.T, x *thing) {
	next, tells := x, true
	switch rapid.IntRange(0, 5).Draw(r, "change") {
	case 0:
		c.write(etcdfile.Write{x.key(), ""}, nil, true)
		return
	case 1:
		next = x.with(func(m *metav1.ObjectMeta) { m.Generation++ })
	case 2:
		next = x.with(func(m *metav1.ObjectMeta) {
			m.Finalizers = append(m.Finalizers, fmt.Sprint("example.com/", len(m.Finalizers)))
		})
	case 3:
		if x.meta.DeletionTimestamp == nil {
			at := metav1.Unix(c.renewed[c.last()], 0)
			next = x.with(func(m *metav1.ObjectMeta) { m.DeletionTimestamp = &at })
			break
		}
		fallthrough
	default:
		tells = false
		next = x.with(func(m *metav1.ObjectMeta) { m.Labels = map[string]string{"written": fmt.Sprint(c.last())} })
	}
	c.write(etcdfile.Write{x.key(), next.value(t)}, next, tells)
}

// told returns a change as a line.
func told(c Change) string {
	text := fmt.Sprintf("%d %s %s @%s", c.Revision, c.Type, c.Object.Ref, c.Object.ResourceVersion)
	if c.Old != nil {
		text += " was @" + c.Old.ResourceVersion
	}
	return text
}

// changes returns the changes of served kinds that a past from a revision must have.
func (c *chronicle) changes(from int, wants func(x *thing) bool) []string {
	var lines []string
	// seen has the earlier state of each object as of its last write.
	for r := from + 1; r <= c.last(); r++ {
		key := c.writes[r-1][0]
		was, had := c.states[r-1][key]
		now, has := c.states[r][key]
		x := now.thing
		if had {
			x = was.thing
		}
		if !c.tells[r] || x == nil || x.ordinary || !wants(x) {
			continue
		}
		before := ""
		if had {
			before = fmt.Sprintf(" was @%d", was.at)
		}
		of := object.Modified
		switch {
		case !has:
			of = object.Deleted
		case !had:
			of = object.Added
		}
		lines = append(lines, fmt.Sprintf("%d %s %s @%d%s", r, of, x.ref(), r, before))
	}
	return lines
}

// standing returns the objects that existed unchanged from a revision on.
func (c *chronicle) standing(from int, wants func(x *thing) bool) []string {
	var lines []string
	for key, x := range c.states[from] {
		stood := !x.ordinary && wants(x.thing)
		for r := from + 1; r <= c.last(); r++ {
			stood = stood && (c.writes[r-1][0] != key || !c.tells[r])
		}
		if stood {
			lines = append(lines, fmt.Sprintf("%s @%d", x.ref(), x.at))
		}
	}
	slices.Sort(lines)
	return lines
}

// TestPast: the past of random writes from any remaining revision is correct.
func TestPast(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := drawChronicle(t, r)
		compacted := rapid.IntRange(0, c.last()).Draw(r, "compacted")
		file := open(t, etcdfile.Create(t, compacted, c.writes...))
		defer file.Close()
		from := rapid.IntRange(max(compacted, 1), c.last()).Draw(r, "from")
		record, err := file.Past(t.Context(), Window{SinceRevision: uint64(from)})
		if err != nil {
			r.Fatal(err)
		}
		every := func(*thing) bool { return true }
		var changes, standing []string
		for _, ch := range record.Changes {
			if !ch.Object.Is(object.CRD) {
				changes = append(changes, told(ch))
			}
		}
		for _, o := range record.Unchanged {
			if !o.Is(object.CRD) {
				standing = append(standing, fmt.Sprintf("%s @%s", o.Ref, o.ResourceVersion))
			}
		}
		slices.Sort(standing)
		if diff := cmp.Diff(c.changes(from, every), changes) + cmp.Diff(c.standing(from, every), standing); diff != "" {
			r.Fatalf("from %d (-want +got):\n%s", from, diff)
		}
		for _, ref := range record.Absent {
			for at := from; at <= c.last(); at++ {
				for _, x := range c.states[at] {
					if x.ref().WithoutUID() == ref {
						r.Fatalf("%s was there at %d", ref, at)
					}
				}
			}
		}
		if record.From.Revision != uint64(from) || record.To.Revision != uint64(c.last()) || record.To.Time != c.renewed[c.last()] || record.From.Time != c.renewed[from] {
			r.Fatalf("from %v to %v", record.From, record.To)
		}
		if len(record.Limits) > 0 {
			r.Fatalf("%+v", record.Limits)
		}
		c.bodies(t, r, file, rapid.IntRange(max(compacted, 1), c.last()).Draw(r, "at"))
	})
}

// bodies compares whole objects at a revision.
func (c *chronicle) bodies(t *testing.T, r *rapid.T, record *EtcdFile, at int) {
	k := rapid.SampledFrom(kinds).Draw(r, "bodies")
	of := Collection{APIVersion: k.apiVersion, Kind: k.kind, Revision: uint64(at)}
	if k.namespaced {
		of.Namespace = rapid.SampledFrom([]string{"", "a", "shop"}).Draw(r, "of namespace")
	}
	of.Name = rapid.SampledFrom([]string{"", "a", "b"}).Draw(r, "of name")
	want, got := map[string]any{}, map[string]any{}
	for key, x := range c.states[at] {
		if x.storedKind.kind == k.kind && (of.Namespace == "" || of.Namespace == x.meta.Namespace) && (of.Name == "" || of.Name == x.meta.Name) {
			want[key] = parsed(t, x.text(t, strconv.Itoa(x.at)))
		}
	}
	err := record.Bodies(t.Context(), of, func(raw []byte) error {
		o := parsed(t, raw)
		m := o["metadata"].(map[string]any)
		x := &thing{storedKind: k}
		x.meta.Name = m["name"].(string)
		if x.meta.Namespace, _ = m["namespace"].(string); x.meta.Namespace != "kube-system" {
			got[x.key()] = o
		}
		return nil
	})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		r.Fatalf("%+v: %v (-want +got):\n%s", of, err, diff)
	}
}

func parsed(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func open(t testing.TB, path string) *EtcdFile {
	t.Helper()
	r, err := OpenEtcd(path, snapshot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
