package snapshot

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

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
			t.Errorf("compression %d: %d objects, lines %.100q", c, len(back.Objects), got)
		}
		if _, err := readBytes(file.Bytes(), Options{}); err != nil {
			t.Errorf("compression %d: without a reader of evidence: %v", c, err)
		}
		if _, err := readBytes(file.Bytes(), Options{Evidence: func([]byte) error { return errors.New("odd") }}); err == nil || !strings.Contains(err.Error(), "line 3: odd") {
			t.Errorf("compression %d: an odd line: %v", c, err)
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
