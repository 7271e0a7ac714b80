package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// schemas are those of docs/schema, by kind.
type schemas map[string]*jsonschema.Schema

// published are the schemas as they are. Strict ones know no field and no word that
// they do not name: users get room for what is added later, tests do not.
// Those of lines are of -o jsonl.
var published, strict, ofLines = sync.OnceValues(func() (schemas, error) { return readSchemas("", func(any) {}) }),
	sync.OnceValues(func() (schemas, error) { return readSchemas("", tighten) }),
	sync.OnceValues(func() (schemas, error) { return readSchemas("#/$defs/Line", func(any) {}) })

func readSchemas(part string, change func(any)) (schemas, error) {
	files, err := filepath.Glob(root + "/docs/schema/*.json")
	if err != nil {
		return nil, err
	}
	found := schemas{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		change(schema)
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft2020)
		c.AssertFormat()
		if err := c.AddResource(file, schema); err != nil {
			return nil, err
		}
		compiled, err := c.Compile(file + part)
		if err != nil {
			return nil, err
		}
		found[schema.(map[string]any)["title"].(string)] = compiled
	}
	return found, nil
}

// tighten takes out of a schema what it leaves open.
func tighten(schema any) {
	switch s := schema.(type) {
	case []any:
		for _, v := range s {
			tighten(v)
		}
	case map[string]any:
		if _, ok := s["properties"].(map[string]any); ok && s["type"] == "object" {
			s["additionalProperties"] = false
		}
		if either, ok := s["anyOf"].([]any); ok {
			s["anyOf"] = either[:1]
		}
		for _, v := range s {
			tighten(v)
		}
	}
}

// valid fails unless a document is what its schema says, and returns its kind.
func valid(t interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}, which func() (schemas, error), raw []byte,
) string {
	t.Helper()
	known, err := which()
	if err != nil {
		t.Fatal(err)
	}
	kind, err := known.check(raw)
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return kind
}

// check is an error unless the document is one of a kind that has a schema, and what
// that says.
func (s schemas) check(raw []byte) (kind string, err error) {
	var head struct{ APIVersion, Kind string }
	if err := json.Unmarshal(raw, &head); err != nil {
		return "", err
	}
	schema := s[head.Kind]
	if head.APIVersion != report.APIVersion || schema == nil {
		return head.Kind, fmt.Errorf("%s %s has no schema", head.APIVersion, head.Kind)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return head.Kind, err
	}
	return head.Kind, schema.Validate(document)
}

// TestEveryKindHasASchema: none is forgotten, and none is of a kind that is no more.
func TestEveryKindHasASchema(t *testing.T) {
	known, err := published()
	if err != nil {
		t.Fatal(err)
	}
	kinds := report.Scheme.KnownTypes(report.GroupVersion)
	for kind := range kinds {
		if known[kind] == nil {
			t.Errorf("%s has no schema", kind)
		}
	}
	if len(known) != len(kinds) {
		t.Errorf("%d schemas of %d kinds", len(known), len(kinds))
	}
}

// TestReferencesAreWholeOrUIDs: a plan may name an object by its uid alone, and in no other way
// in part; effects name theirs in whole.
func TestReferencesAreWholeOrUIDs(t *testing.T) {
	const good = `{"apiVersion":"kubectl-gc.io/v1alpha1","kind":"Plan","source":{"type":"files"},"rules":"upstream","seed":{"verb":"collect","targets":[]},
"complete":true,"digest":"","summary":{"deleted":1,"orphaned":0,"pruned":0,"kept":0,"blocked":0,"unknown":0,"byKind":[]},"gaps":[],
"effects":[{"object":{"apiVersion":"v1","kind":"Pod","name":"a","uid":"u"},"outcome":"Deleted","reason":"NoExistingOwner","because":[{"uid":"v"}],"message":"m"}]}`
	valid(t, strict, []byte(good))
	open, err := published()
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`{"uid":"v"}`, `{"name":"b","uid":"v"}`}, {`{"uid":"v"}`, `{"apiVersion":"v1","kind":"Pod","uid":"v"}`}, {`{"uid":"v"}`, `{"namespace":"n","uid":"v"}`},
		{`{"uid":"v"}`, `{}`}, {`{"uid":"v"}`, `"v"`}, {`{"apiVersion":"v1","kind":"Pod","name":"a","uid":"u"}`, `{"uid":"u"}`}, {`"targets":[]`, `"targets":[{"uid":"u"}]`},
	} {
		broken := strings.Replace(good, change[0], change[1], 1)
		if broken == good {
			t.Fatalf("%s: nothing is changed", change[1])
		}
		if _, err := open.check([]byte(broken)); err == nil {
			t.Errorf("%s is valid", change[1])
		}
	}
}

// TestBrokenDocuments: each kind of mistake is one for the schema, too, and what may
// be added later is none.
func TestBrokenDocuments(t *testing.T) {
	good := `{"apiVersion":"kubectl-gc.io/v1alpha1","kind":"Graph","source":{"type":"files"},"roots":[],
"nodes":[{"ref":{"apiVersion":"v1","kind":"Pod","name":"a","uid":"u"},"virtual":false,"observed":true,"beingDeleted":false,"waitingForDependents":false}],
"edges":[{"dependent":"u","owner":"v","controller":true,"blockOwnerDeletion":false,"class":"Existing"}],"complete":false,
"gaps":[{"resource":"pods","why":"Forbidden: no"}]}`
	valid(t, strict, []byte(good))
	open, err := published()
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := strict()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"a list that is missing":   {`"roots":[],`, ``},
		"a list that is null":      {`"roots":[]`, `"roots":null`},
		"a text for a number":      {`"observed":true`, `"observed":"true"`},
		"a class that is none":     {`"Existing"`, `"Firm"`},
		"a source that is none":    {`"files"`, `"guess"`},
		"a gap without a reason":   {`Forbidden: no`, `who knows`},
		"another version":          {`v1alpha1`, `v9`},
		"an object without a name": {`"name":"a",`, ``},
	} {
		broken := strings.Replace(good, change[0], change[1], 1)
		if broken == good {
			t.Fatalf("%s: nothing is changed", name)
		}
		if _, err := open.check([]byte(broken)); err == nil {
			t.Errorf("%s is valid", name)
		}
	}
	lines, err := ofLines()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		`{"list":"edges","dependent":"u","owner":"v","controller":true,"blockOwnerDeletion":false,"class":"Existing","later":1}`:                             true,
		`{"list":"edges","dependent":"u","owner":"v","controller":true,"blockOwnerDeletion":false,"class":"Firm"}`:                                           false,
		`{"list":"nodes","dependent":"u","owner":"v","controller":true,"blockOwnerDeletion":false,"class":"Existing"}`:                                       false,
		`{"list":"others","dependent":"u","owner":"v","controller":true,"blockOwnerDeletion":false,"class":"Existing"}`:                                      false,
		`{"dependent":"u","owner":"v","controller":true,"blockOwnerDeletion":false,"class":"Existing"}`:                                                      false,
		`{"apiVersion":"kubectl-gc.io/v1alpha1","kind":"Graph","source":{"type":"files"},"complete":false,"lists":{"roots":0,"nodes":1,"edges":1,"gaps":1}}`: true,
		`{"apiVersion":"kubectl-gc.io/v1alpha1","kind":"Graph","source":{"type":"files"},"complete":false,"lists":{"roots":0,"nodes":1,"edges":1}}`:          false,
		`{"apiVersion":"kubectl-gc.io/v1alpha1","kind":"Plan","source":{"type":"files"},"complete":false,"lists":{"roots":0,"nodes":1,"edges":1,"gaps":1}}`:  false,
	} {
		fields, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := lines["Graph"].Validate(fields); (err == nil) != want {
			t.Errorf("a line is valid: %t, want %t: %v\n%s", err == nil, want, err, text)
		}
	}
	later := strings.Replace(good, `"complete":false`, `"complete":false,"later":1`, 1)
	if _, err := open.check([]byte(later)); err != nil {
		t.Errorf("a field that is added later: %v", err)
	}
	if _, err := narrow.check([]byte(later)); err == nil {
		t.Error("tests would not see a field that no schema has")
	}
}
