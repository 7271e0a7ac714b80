package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// genObject draws an object of any form, with names that no server would accept.
func genObject(t *rapid.T) *object.Object {
	word := rapid.SampledFrom([]string{"a", "b", "web", "", "ü", "x\ny", `q"\`, "\x00", strings.Repeat("long", 50)})
	kinds := [][2]string{{"v1", "Pod"}, {"v1", "Namespace"}, {"v1", "Node"}, {"apps/v1", "Deployment"}, {"example.com/v1", "Cart"}}
	kind := rapid.SampledFrom(kinds).Draw(t, "kind")
	o := &object.Object{
		Ref: object.Ref{APIVersion: kind[0], Kind: kind[1], Namespace: word.Draw(t, "ns"), Name: word.Draw(t, "name"),
			UID: types.UID(fmt.Sprintf("u%d", rapid.IntRange(0, 20).Draw(t, "uid")))},
		ResourceVersion: rapid.SampledFrom([]string{"", "1", "99", "100", "x"}).Draw(t, "rv"),
		Created:         rapid.Int64().Draw(t, "created"),
		Generation:      rapid.Int64Range(0, 9).Draw(t, "generation"),
		Labels:          object.LabelsOf(rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), rapid.StringMatching(`[a-z]{0,3}`), 0, 3).Draw(t, "labels")),
	}
	for range rapid.IntRange(0, 3).Draw(t, "owners") {
		o.Owners = append(o.Owners, object.OwnerReference{
			APIVersion: word.Draw(t, "av"), Kind: word.Draw(t, "k"), Name: word.Draw(t, "n"), UID: types.UID(word.Draw(t, "u")),
			Controller:         object.Flag(rapid.IntRange(0, 2).Draw(t, "c")),
			BlockOwnerDeletion: object.Flag(rapid.IntRange(0, 2).Draw(t, "b")),
		})
	}
	if rapid.Bool().Draw(t, "rare") {
		grace := rapid.SampledFrom([]*int64{nil, new(int64(0)), new(int64(30))})
		r := o.Edit()
		r.Finalizers = rapid.SliceOfN(word, 0, 3).Draw(t, "finalizers")
		r.DeletionTimestamp = rapid.Int64Range(-5, 5).Draw(t, "deleted")
		r.GracePeriod = grace.Draw(t, "grace")
		r.Protection = object.Protection(rapid.IntRange(0, 3).Draw(t, "protection"))
		r.Revision = rapid.Uint32Range(0, 3).Draw(t, "revision")
		switch rapid.IntRange(0, 12).Draw(t, "facts") {
		case 1:
			p := &object.PodFacts{NodeName: word.Draw(t, "node"), Phase: word.Draw(t, "phase"),
				TerminationGracePeriod: grace.Draw(t, "spec grace"), Mirror: rapid.Bool().Draw(t, "mirror"),
				VolumesKnown: rapid.Bool().Draw(t, "volumes")}
			for range rapid.IntRange(0, 2).Draw(t, "claims") {
				p.Claims = append(p.Claims, object.Claim{Name: word.Draw(t, "claim"), Ephemeral: rapid.Bool().Draw(t, "ephemeral")})
			}
			r.Facts = p
		case 2:
			r.Facts = &object.NamespaceFacts{Phase: word.Draw(t, "phase"), Finalizers: []string{"kubernetes"}}
		case 3:
			r.Facts = &object.CRDFacts{Group: "example.com", Kind: "Cart", Plural: "carts", Namespaced: true, Established: true,
				ShortNames: []string{"c"}, Versions: []object.CRDVersion{{Name: "v1", Served: true, Storage: true}, {Name: "v2"}},
				Stored: []string{"v1", "v0"}}
		case 4:
			r.Facts = &object.JobFacts{Finished: rapid.Bool().Draw(t, "finished"), ManagedBy: word.Draw(t, "manager"), NoRetry: rapid.Bool().Draw(t, "no retry")}
		case 5:
			r.Facts = &object.PVFacts{Phase: word.Draw(t, "phase"), ClaimNamespace: word.Draw(t, "claim ns"),
				ClaimName: word.Draw(t, "claim"), ClaimUID: types.UID(word.Draw(t, "claim uid")),
				ReclaimPolicy: word.Draw(t, "policy"), Provisioner: word.Draw(t, "by"), MigratedTo: word.Draw(t, "to"), CSI: rapid.Bool().Draw(t, "csi")}
		case 6:
			c := &object.ResourceClaimFacts{}
			for range rapid.IntRange(0, 2).Draw(t, "users") {
				c.Reserved = append(c.Reserved, object.Reservation{
					Group: word.Draw(t, "group"), Resource: word.Draw(t, "resource"), Name: word.Draw(t, "user"), UID: types.UID(word.Draw(t, "user uid"))})
			}
			r.Facts = c
		case 8:
			r.Facts = &object.IPAddressFacts{Group: word.Draw(t, "group"), Resource: word.Draw(t, "resource"),
				Namespace: word.Draw(t, "parent ns"), Name: word.Draw(t, "parent")}
		case 9:
			r.Facts = &object.Token{Account: word.Draw(t, "account"), AccountUID: types.UID(word.Draw(t, "account uid")),
				Sure: rapid.Bool().Draw(t, "sure")}
		case 10:
			r.Facts = &object.StatefulSetFacts{ClaimTemplates: rapid.SliceOfN(word, 0, 2).Draw(t, "templates")}
		case 11:
			r.Facts = &object.ServiceAccountFacts{Secrets: rapid.SliceOfN(word, 0, 2).Draw(t, "secrets")}
		case 12:
			r.Facts = &object.ClusterRoleFacts{Rules: rapid.SliceOfN(word, 0, 2).Draw(t, "rules"), Aggregates: rapid.SliceOfN(word, 0, 2).Draw(t, "of")}
		case 7:
			r.Facts = &object.ServiceCIDRFacts{CIDRs: rapid.SliceOfN(word, 0, 2).Draw(t, "cidrs")}
		}
	}
	return o
}

func genSnapshot(t *rapid.T) *Snapshot {
	rs := BuiltinResources()
	rs.Add(object.Resource{Group: "example.com", Version: "v1", Name: "carts", Kind: "Cart", Namespaced: true,
		Verbs: object.AllVerbs, ShortNames: []string{"c"}, Categories: []string{"all"}, Custom: true, Guessed: true})
	c := &Coverage{everything: rapid.Bool().Draw(t, "everything")}
	if rapid.Bool().Draw(t, "by choice") {
		c.LeaveOut("a reason")
	}
	names := rapid.SampledFrom([]schema.GroupResource{pods, deployments, {Group: "example.com", Resource: "carts"}, {Group: "extensions", Resource: "ingresses"}})
	namespaces := rapid.SampledFrom([]string{"", "shop", "pay"})
	for range rapid.IntRange(0, 4).Draw(t, "covered") {
		c.Add(names.Draw(t, "resource"), namespaces.Draw(t, "namespace"))
	}
	for range rapid.IntRange(0, 2).Draw(t, "failed") {
		c.Fail(names.Draw(t, "resource"), namespaces.Draw(t, "namespace"), reason.Forbidden, "no <>&")
	}
	objects := rapid.SliceOfN(rapid.Custom(genObject), 0, 12).Draw(t, "objects")
	for _, o := range objects {
		if isClusterIdentity(o) {
			o.UID = "one"
		}
	}
	s, err := New(objects, rs, c, Source{Files: []string{"a", "b"}, KubernetesVersion: "v1.36.3", TakenAt: "2026-01-02T03:04:05Z", Ignored: 3})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// diff compares two snapshots completely.
func diff(a, b *Snapshot) string {
	if d := cmp.Diff(a.Objects, b.Objects, cmp.Comparer(object.Equal)); d != "" {
		return d
	}
	for i, o := range b.Objects { // or each of a million is looked up where it stands
		if o.Hint() != uint32(i)+1 {
			return fmt.Sprintf("%s at %d was told %d", o.Ref, i, o.Hint())
		}
	}
	if d := cmp.Diff(a.Resources.All(), b.Resources.All(), cmp.Transformer("lists", func(r object.Resource) string { return fmt.Sprintf("%+v", r) })); d != "" {
		return d
	}
	if d := cmp.Diff(a.Gaps, b.Gaps) + cmp.Diff(a.Source, b.Source) + cmp.Diff(a.Problems, b.Problems); d != "" {
		return d
	}
	return cmp.Diff(coverageText(a.coverage), coverageText(b.coverage))
}

func coverageText(c *Coverage) []string {
	text := []string{fmt.Sprint(c.everything, c.elsewhere)}
	for gr, p := range c.places {
		text = append(text, fmt.Sprint(gr, p.everywhere, slices.Sorted(maps.Keys(p.namespaces)), p.failures))
	}
	slices.Sort(text)
	return text
}

// Read(Write(s)) == s, in every compression.
func TestStoredRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := genSnapshot(t)
		c := rapid.SampledFrom([]Compression{Uncompressed, Gzip, Zstd}).Draw(t, "compression")
		var b, again bytes.Buffer
		if err := s.Write(&b, c, Evidence{}); err != nil {
			t.Fatal(err)
		}
		back, err := readBytes(bytes.Clone(b.Bytes()), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := diff(s, back); d != "" {
			t.Fatalf("-written +read:\n%s", d)
		}
		if err := back.Write(&again, c, Evidence{}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Fatal("the same snapshot gives different bytes")
		}
	})
}

func storedExample(t testing.TB) []byte {
	t.Helper()
	s, err := readBytes([]byte(podList), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Write(&b, Uncompressed, Evidence{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An incomplete stored snapshot is never read partially: its header claims coverage for objects
// that may be missing.
func TestStoredDamage(t *testing.T) {
	whole := storedExample(t)
	for n := len(formatMark); n < len(whole); n += 1 + n%211 {
		if _, err := readBytes(whole[:n], Options{AllowPartial: true}); err == nil {
			t.Fatalf("cut after %d of %d bytes, and read", n, len(whole))
		}
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	tests := map[string]struct {
		content []byte
		says    string
	}{
		"changed object":  {bytes.Replace(whole, []byte(`"n":"p"`), []byte(`"n":"q"`), 1), "hash"},
		"changed header":  {bytes.Replace(whole, []byte(`"places"`), []byte(`"Places"`), 1), "hash"},
		"lost object":     {bytes.Replace(whole, lines[1], nil, 1), "not a whole snapshot"},
		"something after": {append(bytes.Clone(whole), '{'), "follows its last line"},
		"newer format":    {bytes.Replace(whole, []byte(formatMark+"2"), []byte(formatMark+"3"), 1), "has format 3"},
		"wrong type":      {bytes.Replace(whole, []byte(`{"t":0`), []byte(`{"t":7`), 1), "type 7"},
		"negative count":  {bytes.Replace(whole, []byte(`"objects":1`), []byte(`"objects":-1`), 1), "-1 objects"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := readBytes(test.content, Options{AllowPartial: true})
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want one that says %q", err, test.says)
			}
		})
	}
}

// Together with other files a stored snapshot keeps its coverage.
func TestStoredWithOtherFiles(t *testing.T) {
	dir := t.TempDir()
	stored := writeFile(t, dir+"/stored", storedExample(t))
	other := writeFile(t, dir+"/other.json", []byte(strings.ReplaceAll(podList, "shop", "pay")))
	s, err := ReadFiles([]string{stored, other}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := preferred(t, s, pods)
	if len(s.Objects) != 2 || !s.Covers(r, "shop") || !s.Covers(r, "pay") || s.Covers(r, "other") {
		t.Errorf("%d objects; covered: shop %v, pay %v, other %v", len(s.Objects), s.Covers(r, "shop"), s.Covers(r, "pay"), s.Covers(r, "other"))
	}
}

// A compressor that splits its work writes several concatenated streams.
func TestStoredInStreams(t *testing.T) {
	whole := storedExample(t)
	for name, compressed := range map[string]func([]byte) []byte{
		"gzip": func(lines []byte) []byte {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			if _, err := z.Write(lines); err != nil {
				t.Fatal(err)
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		},
		"zstd": func(lines []byte) []byte {
			z, err := zstd.NewWriter(nil)
			if err != nil {
				t.Fatal(err)
			}
			return z.EncodeAll(lines, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			lines := bytes.SplitAfterN(whole, []byte("\n"), 3)
			streams := [][]byte{compressed(lines[0]), compressed(lines[1]), compressed(lines[2])}
			if s, err := readBytes(slices.Concat(streams...), Options{}); err != nil || len(s.Objects) != 1 {
				t.Errorf("%v", err)
			}
			for _, some := range [][]byte{streams[0], slices.Concat(streams[:2]...), slices.Concat(streams[0], streams[2])} {
				if _, err := readBytes(some, Options{AllowPartial: true}); err == nil {
					t.Error("read without one of its streams")
				}
			}
		})
	}
}

// TestStoredEvidence: the lines of evidence are read back in order and uninterpreted.
func TestStoredEvidence(t *testing.T) {
	want := []string{`{"a":1}`, `{"b":"` + strings.Repeat("x", 3*blockSize) + `"}`, `{}`}
	for _, c := range []Compression{Uncompressed, Gzip, Zstd} {
		var file bytes.Buffer
		s, err := New([]*object.Object{{Ref: object.Ref{APIVersion: "v1", Kind: "Node", Name: "n", UID: "u"}}}, nil, CoversEverything(), Source{Files: []string{"x"}})
		if err == nil {
			err = s.Write(&file, c, Evidence{Lines: len(want), Line: func(n int) ([]byte, error) { return []byte(want[n]), nil }})
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		back, err := readBytes(file.Bytes(), Options{Evidence: func(line []byte) error { got = append(got, string(line)); return nil }})
		if err != nil {
			t.Fatal(err)
		}
		if len(back.Objects) != 1 || !slices.Equal(got, want) {
			t.Errorf("compression %q: %d objects, lines %.100q", c, len(back.Objects), got)
		}
		if _, err := readBytes(file.Bytes(), Options{}); err != nil {
			t.Errorf("compression %q: without a reader of evidence: %v", c, err)
		}
		if _, err := readBytes(file.Bytes(), Options{Evidence: func([]byte) error { return errors.New("odd") }}); err == nil || !strings.Contains(err.Error(), "line 3: odd") {
			t.Errorf("compression %q: an odd line: %v", c, err)
		}
	}
}

// old is a file in the first version of the format, with a pod on a node. The state of the node was
// not stored.
const old = `{"kubectlGCSnapshot":1,"objects":2,"source":{"files":["dump.yaml"],"takenAt":"2024-01-01T12:00:00Z"},"types":[["v1","Node"],["v1","Pod"]],` +
	`"coverage":{"places":[{"resource":"nodes","everywhere":true},{"resource":"pods","everywhere":true}]},"gaps":[],"problems":[],` +
	`"resources":[{"version":"v1","name":"nodes","kind":"Node","verbs":["delete","get","list","patch","update","watch"]},{"version":"v1","name":"pods","kind":"Pod","namespaced":true,"verbs":["delete","get","list","patch","update","watch"]}]}
{"t":0,"n":"n1","u":"1","c":1704067200}
{"t":1,"s":"a","n":"p","u":"2","c":1704067200,"pod":{"node":"n1","phase":"Running"}}
`

// sealed adds the trailer.
func sealed(lines string, objects int) []byte {
	return fmt.Appendf(nil, "%s{\"end\":%d,\"sha256\":\"%x\"}\n", lines, objects, sha256.Sum256([]byte(lines)))
}

// TestEvidenceUnread: a snapshot without evidence has gaps where evidence decides, and so has one
// that was read from its file.
func TestEvidenceUnread(t *testing.T) {
	s, err := New([]*object.Object{{Ref: object.Ref{APIVersion: "v1", Kind: "Node", Name: "n", UID: "u"}}}, nil, nil, Source{})
	if err != nil {
		t.Fatal(err)
	}
	s.coverage.Add(object.Node.GroupResource(), "")
	for _, e := range []Evidence{{Unread: true}, {}} {
		var file bytes.Buffer
		if err := s.Write(&file, Gzip, e); err != nil {
			t.Fatal(err)
		}
		if s, err = readBytes(file.Bytes(), Options{}); err != nil {
			t.Fatal(err)
		}
		if !s.Conditionless() || s.Covers(object.Node.Resource(), "") {
			t.Errorf("conditionless %v, covers nodes %v", s.Conditionless(), s.Covers(object.Node.Resource(), ""))
		}
	}
}

// TestOlderFormat: state that the first version of the format didn't store is a gap.
func TestOlderFormat(t *testing.T) {
	s, err := readBytes(sealed(old, 2), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !s.Conditionless() || len(s.Objects) != 2 || !s.Covers(object.Pod.Resource(), "a") || s.Covers(object.Node.Resource(), "") {
		t.Errorf("conditionless %v, %d objects, covers pods %v, nodes %v", s.Conditionless(), len(s.Objects), s.Covers(object.Pod.Resource(), "a"), s.Covers(object.Node.Resource(), ""))
	}
	if len(s.Gaps) != 1 || s.Gaps[0].Resource != "nodes" || s.Gaps[0].Reason() != reason.NotInDump {
		t.Errorf("gaps %v", s.Gaps)
	}
}

// TestOlderFilesLeaveUsesUnknown: a file from before claims and Jobs were stored doesn't tell that
// a pod uses no claim, nor what manages a Job.
func TestOlderFilesLeaveUsesUnknown(t *testing.T) {
	for _, line := range []string{
		`{"t":0,"n":"a","pod":{"node":"n1","phase":"Running"}}`,
		`{"t":0,"n":"a","f":["kubernetes.io/pv-protection"]}`,
	} {
		var stored storedObject
		if err := json.Unmarshal([]byte(line), &stored); err != nil {
			t.Fatal(err)
		}
		o := stored.object(typeName{apiVersion: "v1", kind: "Pod"}, manifest.NewInterner())
		if p := o.Pod(); p != nil && (p.VolumesKnown || p.NodeName != "n1") || o.Job() != nil || o.Volume() != nil {
			t.Errorf("%s: %+v", line, o.Lifecycle)
		}
	}
}
