package manifest

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

var small = Limits{ValueBytes: 256 << 10, ObjectBytes: 4 << 10, ParsedBytes: 64 << 10}

// TestLimits has one input for each limit, and one that only seems to exceed it.
func TestLimits(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	pod := func(rest string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"` + rest + `}}`
	}
	for _, c := range []struct{ name, input, want string }{
		{"a line of YAML", "a: " + long + "\n", "in: line 1: the input exceeds a limit: more than 256 KiB, the limit for one value or line"},
		{"an object of YAML", "a: 1\n---\na:\n" + strings.Repeat("  b: "+long[:100]+"\n", 3000), "in: document 2: line 3: the input exceeds a limit: more than 256 KiB, the limit for the text of one object of YAML, which begins here; JSON has no such limit"},
		{"an item of YAML", "apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n  apiVersion: v1\n  metadata: {name: a}\n- a: 2\n" + strings.Repeat("  b: "+long[:100]+"\n", 3000), "in: document 1: line 7: the input exceeds a limit: more than 256 KiB, the limit for the text of one object of YAML, which begins here; JSON has no such limit"},
		{"a label", "\n\n" + pod(`,"labels":{"a":"`+long+`"}`), "in: document 1: line 3: the input exceeds a limit: more than 4 KiB, the limit for what is kept of one object"},
		{"finalizers", pod(`,"finalizers":[""` + strings.Repeat(`,""`, 100) + `]`), "line 1: the input exceeds a limit: more than 4 KiB, the limit for what is kept of one object"},
		{"a spec before the kind", `{"spec":{"nodeName":"` + long[:5000] + `"},"apiVersion":"v1","kind":"Pod"}`, "the limit for what is kept of one object"},
		{"odd YAML", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\ndata: [" + strings.Repeat("a,", 1000) + "]\n", "in: document 1: line 1: the input exceeds a limit: reading it would take more than 64 KiB, the limit for YAML that is not in the form that kubectl writes; JSON and the form of kubectl have no such limit"},
		{"aliases", "apiVersion: v1\nkind: Pod\nx: &x " + strings.Repeat("x", 3000) + "\nmetadata: {name: a, labels: {a: *x, b: *x}}\n", "line 3: the input exceeds a limit: more than 4 KiB, the limit for what is kept of one object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := find(c.input, Options{Limits: small})
			var p *Problem
			if !errors.As(err, &p) || !errors.Is(err, ErrLimit) || !strings.HasSuffix(p.Error(), c.want) {
				t.Errorf("Read returned\n\t%v\nwant\n\t…%s", err, c.want)
			}
		})
	}
	for _, input := range []string{
		pod(`,"annotations":{"a":"` + long + `"}`),
		`{"spec":{"a":"` + long + `"},"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`,
	} {
		if f, err := find(input, Options{Limits: small}); err != nil || len(f.Objects) != 1 {
			t.Errorf("%.40s…: %v", input, err)
		}
	}
}

// TestReserveEnds: reading stops when memory is refused, and waiting objects are counted.
func TestReserveEnds(t *testing.T) {
	most := 0
	refused := errors.New("no more")
	o := Options{Limits: Limits{Reserve: func(_ int64, waiting int) error {
		if most = waiting; waiting > 1000 {
			return refused
		}
		return nil
	}}}
	input := `{"items":[{"metadata":{"name":"a"}}` + strings.Repeat(`,{"metadata":{"name":"b"}}`, 100_000) + `],"kind":"PodList","apiVersion":"v1"}`
	if _, err := find(input, o); !errors.Is(err, refused) || most > 20_000 {
		t.Errorf("%v with %d waiting", err, most)
	}
}

// FuzzMemory repeats a piece of any input between two others: reading it never allocates more at a
// time than the limits allow.
func FuzzMemory(f *testing.F) {
	for _, seed := range [][3]string{
		{`{"spec":{"a":"`, "x", `"}}`}, {`{"a":`, "[", ""}, {`[{}`, ",{}", "]"}, {"a: ", "x", "\n"}, {"a: [", "a,", "]\n"},
		{"apiVersion: v1\nkind: Pod\nmetadata:\n  finalizers:\n", "  - a\n", ""}, {"x:\n", "  ? a\n", ""}, {"", "---\n{}\n", ""},
		{`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","ownerReferences":[{}`, ",{}", "]}}"},
		{"a: &a [x]\nb: [", "*a, ", "]\n"}, {"", "- ", "a\n"}, {"a: |\n", "  b\n", ""}, {"", "{}", ""},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), []byte(seed[2]))
	}
	f.Fuzz(func(t *testing.T, head, piece, tail []byte) {
		if len(piece) == 0 || len(head)+len(piece)+len(tail) > 4<<10 {
			return
		}
		input := string(head) + strings.Repeat(string(piece), (512<<10)/len(piece)) + string(tail)
		limits := Limits{ValueBytes: 128 << 10, ObjectBytes: 64 << 10, ParsedBytes: 4 << 20}
		heldBefore := heap()
		peak := heldBefore
		limits.Reserve = func(bytes int64, _ int) error {
			peak = max(peak, heap()+uint64(bytes))
			return nil
		}
		handed := 0
		h := Handler{
			Object:  func(*object.Object, bool, Position) error { handed++; return nil },
			List:    func(List) error { handed++; return nil },
			Foreign: func(Position, string) error { handed++; return nil },
		}
		_ = Read(strings.NewReader(input), Options{Limits: limits}, h)
		// The limits, three times for copies, and the garbage of small objects before a full
		// collection.
		if most := uint64(64<<20 + 1<<10*handed); peak > heldBefore+most {
			t.Errorf("%d MiB in use for %d objects and lists", (peak-heldBefore)>>20, handed)
		}
	})
}

// heap returns the size of the heap.
func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
