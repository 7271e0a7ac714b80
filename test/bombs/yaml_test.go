package bombs

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

const (
	yamlPod  = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: shop\n  uid: \"1\"\n"
	oddYAML  = "the limit for YAML that is not in the form that kubectl writes"
	yamlItem = "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: p-%[1]d\n    namespace: shop\n    uid: 00000000-0000-0000-0000-%012[1]d\n"
)

// N22, N23: whatever grows in YAML.
func TestYAML(t *testing.T) {
	tryAll(t, []bomb{
		{name: "a line", write: inside("a: ", "x", large(500*mib), "\n"), want: oneValue},
		{name: "a line in quotes", long: true, write: inside(`a: "`, "x", large(500*mib), "\"\n"), want: oneValue},
		{name: "a line of blanks", long: true, write: inside("a:\n", " ", large(500*mib), "b\n"), want: oneValue},
		{name: "a line of a block", write: inside(yamlPod+"data:\n  a: |\n    ", "x", large(500*mib), "\n"), want: oneText},
		{name: "a key", long: true, write: inside(yamlPod, "x", large(500*mib), ": a\n"), want: oneValue},
		{name: "a comment before the first document", write: inside("#", "x", large(500*mib), "\n"), want: oneValue},
		{name: "many comments", write: inside("", "# comment\n", large(500*mib), yamlPod), objects: 1},
		{name: "an object of many lines", write: inside(yamlPod+"data:\n  a: |\n", "    some line\n", large(500*mib), ""), want: oneText},
		{name: "an item of many lines", long: true, write: inside("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n  data:\n    a: |\n", "      some line\n", large(500*mib), ""), want: oneText},
		{name: "quotes over many lines", long: true, write: inside(yamlPod+"data:\n  a: \"x\n", "    some line\n", large(500*mib), "    \"\n"), want: oneText},
		{name: "many labels", write: numbered(yamlPod+"  labels:\n", 3_000_000, "    a%d: b\n", ""), want: oneObject},
		{name: "many finalizers", long: true, write: inside(yamlPod+"  finalizers:\n", "  - a\n", 60*mib, ""), want: oneObject},
		{name: "many owners", write: inside(yamlPod+"  ownerReferences:\n", "  - uid: a\n", 60*mib, ""), want: oneObject},
		{name: "many finalizers in brackets", long: true, write: inside(yamlPod+"  finalizers: [a", ",a", 40*mib, "]\n"), want: oddYAML},
		{name: "brackets", long: true, write: inside(yamlPod+"data: [a", ",a", 40*mib, "]\n"), want: oddYAML},
		{name: "braces", long: true, write: inside(yamlPod+"data: {a", ",a", 40*mib, "}\n"), want: oddYAML},
		{name: "brackets in brackets", write: inside(yamlPod+"data: [a", ",[]", 40*mib, "]\n"), want: oddYAML},
		{name: "question marks", write: inside(yamlPod+"data:\n", "  ? a\n", 40*mib, ""), want: oddYAML},
		{name: "quoted keys", long: true, write: inside(yamlPod+"data:\n", "  \"\": a\n", 40*mib, ""), want: oddYAML},
		{name: "tags", write: inside(yamlPod+"data:\n", "  - ! a\n", 40*mib, ""), want: oddYAML},
		{name: "a long text that only the full parser reads", write: inside(yamlPod+"data:\n  ? a\n  : ", "x y ", 40*mib, "\n"), want: oddYAML},
		{name: "long comments inside", write: inside(yamlPod, "# x\n", 60*mib, "data: a\n"), want: oddYAML},
		{name: "an item in brackets", long: true, write: inside("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}, data: [a", ",a", 40*mib, "]}\n"), want: oddYAML},
		{name: "a list in brackets", long: true, write: inside("apiVersion: v1\nkind: List\nitems: [{}", ",{}", 40*mib, "]\n"), want: oddYAML},
		{name: "dashes", write: inside("", "- ", 60*mib, "a\n"), want: oddYAML},
		{name: "deep brackets", write: inside("a: ", "[", 60*mib, "\n"), want: oddYAML},
		{name: "documents without end", write: inside("", "---\n{}\n", mib, ""), want: "no Kubernetes objects"},
		{name: "arrays without end", long: true, write: inside("", "---\n[]\n", 20*mib, ""), want: memory},
		{name: "aliases of a long text", write: func(w io.Writer) {
			put(w, "x: &x "+strings.Repeat("x", mib)+"\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n")
			counted(w, 2000, "    a%d: *x\n")
		}, want: oneObject},
		{name: "aliases of a long text in an item", write: func(w io.Writer) {
			put(w, "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  x: &x "+strings.Repeat("x", mib)+"\n  metadata:\n    name: a\n    labels:\n")
			counted(w, 2000, "      a%d: *x\n")
		}, want: oneObject},
		{name: "aliases of aliases", write: func(w io.Writer) {
			put(w, yamlPod+"spec:\n  a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
			for i := 1; i < 30; i++ {
				fmt.Fprintf(w, "  a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 8), i-1)
			}
		}, want: "expand without bounds"},
		{name: "merged mappings", write: func(w io.Writer) {
			put(w, yamlPod+"m0: &m0 {a: b}\n")
			for i := 1; i < 40; i++ {
				fmt.Fprintf(w, "m%d: &m%d {<<: [*m%d, *m%d, *m%d]}\n", i, i, i-1, i-1, i-1)
			}
			put(w, "spec:\n  <<: *m39\n")
		}, want: "expand without bounds"},
		{name: "braces as many as are read", write: inside(yamlPod+"data: {a", ",a", 400<<10, "}\n"), objects: 1},
		{name: "brackets as many as are read", long: true, write: inside(yamlPod+"data: [a", ",[]", 400<<10, "]\n"), objects: 1},
		{name: "question marks as many as are read", write: inside(yamlPod+"data:\n", "  ?\n", 400<<10, ""), objects: 1},
		{name: "dashes as many as are read", long: true, write: inside(yamlPod+"data:\n", "- - - - - - - - - - - -\n", 900<<10, ""), objects: 1},
		{name: "many anchors", write: numbered(yamlPod+"data:\n", 2_000_000, "  a%[1]d: &a%[1]d b\n", ""), want: oddYAML},
		{name: "half a million pods", write: numbered("apiVersion: v1\nkind: List\nitems:\n", many(500_000), yamlItem, ""), objects: many(500_000)},
		{name: "pods that only the full parser reads", write: numbered("apiVersion: v1\nkind: List\nitems:\n", many(20_000), yamlItem+"    labels: {a: b}\n", ""), objects: many(20_000)},
		{name: "a hundred thousand documents", write: numbered("", many(100_000), "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: p-%[1]d\n  namespace: shop\n  uid: 00000000-0000-0000-0000-%012[1]d\n", ""), objects: many(100_000)},
	})
}
