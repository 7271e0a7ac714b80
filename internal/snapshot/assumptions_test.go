package snapshot

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// vouchedDump has two pods and no jobs, and says that more of its secrets follow.
const vouchedDump = `{"apiVersion":"v1","kind":"List","items":[
 {"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"shop","uid":"1"}},
 {"apiVersion":"v1","kind":"Pod","metadata":{"name":"b","namespace":"shop","uid":"2"}}]}
{"apiVersion":"v1","kind":"SecretList","metadata":{"continue":"x"},"items":[
 {"apiVersion":"v1","kind":"Secret","metadata":{"name":"a","namespace":"shop","uid":"3"}}]}
{"apiVersion":"v1","kind":"NodeList","metadata":{"resourceVersion":"1"},"items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"4"}}]}
`

func TestCompletenessFlags(t *testing.T) {
	const covered = "covered"
	tests := []struct {
		name    string
		vouched CompletenessFlags
		want    map[string]string // questions, and how the answer begins
	}{
		{"nothing is said", CompletenessFlags{}, map[string]string{"pods shop": covered, "pods *": "NotInDump", "jobs.batch shop": "NotInDump", "nodes": covered, "secrets shop": "Partial: a list says"}},
		{"types", CompletenessFlags{Complete: []string{"job", "po"}}, map[string]string{"pods *": covered, "jobs.batch shop": covered, "jobs.batch *": covered, "cronjobs.batch shop": "NotInDump"}},
		{"a type in a namespace", CompletenessFlags{Complete: []string{"jobs.batch", "no"}, In: []string{"shop"}}, map[string]string{"jobs.batch shop": covered, "jobs.batch pay": "NotInDump", "nodes": covered}},
		{"what is known to be cut off", CompletenessFlags{Complete: []string{"secrets"}}, map[string]string{"secrets shop": "Partial: a list says"}},
		{"no list is whole", CompletenessFlags{Partial: true}, map[string]string{"pods shop": "Partial: it was said", "nodes": "Partial: it was said", "jobs.batch shop": "NotInDump"}},
		{"none but", CompletenessFlags{Partial: true, Complete: []string{"Pod"}}, map[string]string{"pods *": covered, "nodes": "Partial: it was said"}},
		{"none but in a namespace", CompletenessFlags{Partial: true, Complete: []string{"pods"}, In: []string{"shop"}}, map[string]string{"pods shop": covered, "pods pay": "Partial: it was said"}},
	}
	plain, err := readBytes([]byte(vouchedDump), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var stored bytes.Buffer
	if err := plain.Write(&stored, Zstd, Evidence{}); err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		for form, dump := range map[string][]byte{"as it is": []byte(vouchedDump), "in our own format": stored.Bytes()} {
			t.Run(test.name+", "+form, func(t *testing.T) {
				s, err := readBytes(dump, Options{CompletenessFlags: test.vouched})
				if err != nil {
					t.Fatal(err)
				}
				for question, want := range test.want {
					if got := answer(s, question); !strings.Contains(got, question+": "+want) {
						t.Errorf("%s, want %s", strings.TrimSpace(got), want)
					}
				}
				for _, g := range s.Gaps {
					if r, ok := s.byName()[[2]string{g.APIVersion, g.Resource}]; ok && s.Covers(r, g.Namespace) && g.Namespace != "" {
						t.Errorf("%+v is a gap, and covered", g)
					}
				}
			})
		}
	}
	_, err = readBytes([]byte(vouchedDump), Options{CompletenessFlags: CompletenessFlags{Complete: []string{"widgets"}}})
	if unknown, ok := errors.AsType[*UnknownTypeError](err); !ok || unknown.Name != "widgets" {
		t.Errorf("an unknown type: %v", err)
	}
}
