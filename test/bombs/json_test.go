package bombs

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// inside writes what repeated bytes are between head and tail.
func inside(head, text string, size int, tail string) func(io.Writer) {
	return func(w io.Writer) {
		put(w, head)
		times(w, text, size)
		put(w, tail)
	}
}

// numbered writes n pieces, each with its number, between head and tail.
func numbered(head string, n int, format, tail string) func(io.Writer) {
	return func(w io.Writer) {
		put(w, head)
		counted(w, n, format)
		put(w, tail)
	}
}

const (
	podHead = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"shop","uid":"1"`
	podTail = `}}`
	// Words of the errors.
	oneValue  = "the limit for one value"
	oneText   = "the limit for the text of one object of YAML"
	oneObject = "the limit for what is kept of one object"
	memory    = "the limit for memory"
	lift      = "--max-memory"
)

// N22, N23: whatever grows in JSON.
func TestJSON(t *testing.T) {
	tryAll(t, []bomb{
		{name: "spec before the kind", write: inside(`{"spec":{"a":"`, "x", large(500*mib), `"},"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`), objects: 1},
		{name: "many entries before the kind", long: true, write: inside(`{"status":{"a":[0`, `,{}`, large(500*mib), `]},"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`), objects: 1},
		{name: "conditions before the kind", write: inside(`{"status":{"conditions":[{}`, `,{"type":"a"}`, 100*mib, `]},"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`), want: oneObject},
		{name: "data of 500 MiB", long: true, write: inside(podHead+`},"data":{"a":"`, "x", large(500*mib), `"}}`), objects: 1},
		{name: "spec of 500 MiB", write: inside(podHead+`},"spec":{"a":"`, "x", large(500*mib), `"}}`), objects: 1},
		{name: "annotation of 500 MiB", long: true, write: inside(podHead+`,"annotations":{"a":"`, "x", large(500*mib), `"}`+podTail), objects: 1},
		{name: "many annotations", write: numbered(podHead+`,"annotations":{"z":""`, 10_000_000, `,"%d":""`, `}`+podTail), objects: 1},
		{name: "managedFields of 500 MiB", write: inside(podHead+`,"managedFields":[{}`, `,{}`, large(500*mib), `]`+podTail), objects: 1},
		{name: "key of an object", write: inside(`{"`, "x", large(500*mib), `":1}`), want: oneObject},
		{name: "key of metadata", long: true, write: inside(podHead+`,"`, "x", large(500*mib), `":1`+podTail), want: oneObject},
		{name: "key of an annotation", long: true, write: inside(podHead+`,"annotations":{"`, "x", large(500*mib), `":""}`+podTail), want: oneObject},
		{name: "key of a label", long: true, write: inside(podHead+`,"labels":{"`, "x", large(500*mib), `":""}`+podTail), want: oneObject},
		{name: "a label", long: true, write: inside(podHead+`,"labels":{"a":"`, "x", large(500*mib), `"}`+podTail), want: oneObject},
		{name: "a name", long: true, write: inside(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"`, "x", large(500*mib), `"}}`), want: oneObject},
		{name: "a kind", long: true, write: inside(`{"kind":"`, "x", large(500*mib), `"}`), want: oneObject},
		{name: "a node's name", long: true, write: inside(podHead+`},"spec":{"nodeName":"`, "x", large(500*mib), `"}}`), want: oneObject},
		{name: "many labels", write: numbered(podHead+`,"labels":{"z":""`, 10_000_000, `,"%d":""`, `}`+podTail), want: oneObject},
		{name: "many finalizers", long: true, write: inside(podHead+`,"finalizers":[""`, `,""`, large(200*mib), `]`+podTail), want: oneObject},
		{name: "many owners", write: inside(podHead+`,"ownerReferences":[{}`, `,{}`, 100*mib, `]`+podTail), want: oneObject},
		{name: "many volumes", long: true, write: inside(podHead+`},"spec":{"volumes":[{}`, `,{"ephemeral":{}}`, large(300*mib), `]}}`), want: oneObject},
		{name: "many finalizers of a namespace", long: true, write: inside(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"},"spec":{"finalizers":[""`, `,""`, large(200*mib), `]}}`), want: oneObject},
		{name: "many versions of a CRD", long: true, write: inside(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"a"},"spec":{"versions":[{}`, `,{}`, 100*mib, `]}}`), want: oneObject},
		{name: "many users of a PVC", write: inside(`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"a"},"status":{"reservedFor":[{}`, `,{}`, 100*mib, `]}}`), want: oneObject},
		{name: "objects that hold much", write: numbered(`[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`, 200,
			`,{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"a":"%d`+strings.Repeat("x", 4*mib)+`"}}}`, `]`), want: memory},
		{name: "objects of many namespaces", long: true, write: numbered(`[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`, 300_000,
			`,{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"%d`+strings.Repeat("x", 3000)+`"}}`, `]`), want: memory},
		{name: "arrays without end", write: inside("", "[]", 20*mib, ""), want: memory},
		{name: "objects of nothing", long: true, write: inside("", "{}", 30*mib, ""), want: "no Kubernetes objects"},
		{name: "lists without items", long: true, write: inside("", `{"kind":"PodList","apiVersion":"v1","items":[]}`, large(200*mib), ""), want: memory},
		{name: "a list of empty objects", write: inside(`{"kind":"PodList","apiVersion":"v1","items":[{}`, ",{}", large(300*mib), "]}"), want: "metadata.name is missing"},
		{name: "an array of empty objects", long: true, write: inside(`[{}`, ",{}", 30*mib, "]"), objects: 0},
		{name: "a million pods", write: numbered(`{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a","uid":"1"}}`, many(1_000_000),
			`,{"metadata":{"name":"p-%[1]d","namespace":"shop","uid":"00000000-0000-0000-0000-%012[1]d"}}`, `]}`), objects: many(1_000_000) + 1},
		{name: "a million pods whose list says its kind last", long: true, write: numbered(`{"apiVersion":"v1","items":[{"metadata":{"name":"a","uid":"1"}}`, many(1_000_000),
			`,{"metadata":{"name":"p-%[1]d","namespace":"shop","uid":"00000000-0000-0000-0000-%012[1]d"},"spec":{"nodeName":"n"},"status":{"phase":"Running"}}`, `],"kind":"PodList"}`), objects: many(1_000_000) + 1},
		{name: "the same pod a million times", write: numbered(`[{}`, many(1_000_000),
			`,{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"shop","uid":"00000000-0000-0000-0000-%012d"}}`, `]`), objects: many(1_000_000)},
		{name: "a million pods of one uid", long: true, write: numbered(`[{}`, 1_000_000,
			`,{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d","namespace":"shop","uid":"00000000-0000-0000-0000-000000000000"}}`, `]`), objects: 1_000_000, want: "no dump of one cluster", nameless: true},
		{name: "deep", write: inside(`{"a":`, "[", large(300*mib), ""), want: "nested deeper than"},
		{name: "deep objects", long: true, write: inside("", `{"a":`, large(300*mib), ""), want: "nested deeper than"},
		{name: "blanks", write: inside("{", " ", large(1000*mib), `}`), want: "no Kubernetes objects"},
		{name: "a number", write: inside(`{"a":`, "1", large(500*mib), `}`), want: "a number has more than"},
		{name: "logs without line ends", write: inside(`{"kind":"NodeList","apiVersion":"v1","items":[]}`+"\n==== START logs for container ", "x", large(500*mib), ""), want: oneValue},
		{name: "text without line ends", long: true, write: inside(`{"kind":"NodeList","apiVersion":"v1","items":[]}`+"\n", "x", large(500*mib), ""), objects: 0},
	})
}

// N22: what is read of bodies, for evidence.
func TestBodies(t *testing.T) {
	stuck := []string{"stuck"}
	dying := func(rest string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a%[1]d","namespace":"shop","uid":"%[1]d","deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["x/y"]` + rest
	}
	one := fmt.Sprintf(dying(""), 1)
	tryAll(t, []bomb{
		{name: "a body", args: stuck, write: inside(one+`},"spec":{"a":"`, "x", large(500*mib), `"}}`), objects: 1},
		{name: "a body in YAML", args: stuck, write: inside("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  uid: u\nspec:\n  a:\n", "  - bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n", large(200*mib), ""), want: oneText},
		{name: "many writers", long: true, args: stuck, write: inside(one+`,"managedFields":[{}`, `,{}`, 60*mib, `]}}`), objects: 1},
		{name: "many conditions", long: true, args: stuck, write: inside(one+`},"status":{"conditions":[{}`, `,{}`, 60*mib, `]}}`), objects: 1},
		{name: "a body in YAML with many entries", args: stuck, write: inside("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  uid: u\nspec:\n  a:\n", "  - {}\n", 60*mib, ""), objects: 1},
		{name: "many bodies", args: stuck, write: numbered(`[`+one+podTail, 400,
			","+dying(`},"status":{"conditions":[{"type":"a","status":"b","message":"`+strings.Repeat("x", 2*mib)+`"}]}}`), `]`), objects: 400, want: memory},
	})
}

// N22: completion of words says nothing of what is wrong, and reads no more.
func TestCompletion(t *testing.T) {
	labels := `,"labels":{"a":"%d` + strings.Repeat("x", 4*mib) + `"}}}`
	tryAll(t, []bomb{
		{name: "objects that hold much", args: []string{"__complete", "dry-run", "delete"}, behind: []string{"pods", ""},
			write: numbered(`[`+podHead+podTail, 200, `,{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"`+labels, `]`), objects: 200},
		{name: "our own format", args: []string{"__complete", "dry-run", "delete"}, behind: []string{"pods", ""},
			write: inside(storedHead+`,"a":"`, "x", 100*mib, ``)},
	})
}
