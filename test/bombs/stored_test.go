package bombs

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// onePiece is in the error of what is decoded in one piece.
const onePiece = "the limit for"

const storedHead = `{"kubectlGCSnapshot":1,"objects":1000000000`

// N22, N23: our own format, and the small documents beside lists.
func TestStored(t *testing.T) {
	file := func(name string, write func(io.Writer)) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			writeFile(t, path, write)
		}
	}
	line := storedHead + `,"source":{},"types":[["v1","Pod"]],"resources":[],"coverage":{}}` + "\n"
	tryAll(t, []bomb{
		{name: "header", write: inside(storedHead+`,"a":"`, "x", large(300*mib), ``), want: oneValue},
		{name: "header of many problems", write: inside(storedHead+`,"problems":[{}`, `,{}`, 40*mib, "]}\n"), want: onePiece},
		{name: "header of many types", long: true, write: inside(storedHead+`,"types":[[]`, `,[]`, 40*mib, "]}\n"), want: onePiece},
		{name: "object", long: true, write: inside(line+`{"t":0,"n":"`, "x", large(300*mib), ``), want: oneValue},
		{name: "object of many owners", write: inside(line+`{"t":0,"n":"a","o":[{}`, `,{}`, 40*mib, "]}\n"), want: onePiece},
		{name: "objects that hold much", write: numbered(line, 400, `{"t":0,"n":"a%d`+strings.Repeat("x", mib)+"\"}\n", ""), want: memory},
		{name: "gzip", long: true, write: gzipped(inside(line+`{"t":0,"n":"`, "x", large(300*mib), ``)), want: oneValue},
		{name: "discovery of many resources", make: file("discovery/apis.json", inside(`{"kind":"APIGroupList","groups":[{}`, `,{}`, 60*mib, "]}")), want: onePiece},
		{name: "discovery of many verbs", long: true, make: file("discovery/v1.json", inside(`{"kind":"APIResourceList","groupVersion":"v1","resources":[{"verbs":[""`, `,""`, 60*mib, "]}]}")), want: onePiece},
		{name: "discovery", long: true, make: file("discovery/v1.json", inside(`{"kind":"APIResourceList","groupVersion":"`, `x`, large(300*mib), `"}`)), want: onePiece},
		{name: "list of errors", make: file("cluster-resources/pods-errors.json", inside(`[[]`, `,[]`, 60*mib, "]")), want: onePiece},
		{name: "log of queries", make: file("meta/query-time.json", inside(`[{}`, `,{}`, 60*mib, "]")), want: onePiece},
	})
}
