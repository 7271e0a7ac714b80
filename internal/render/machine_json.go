package render

import (
	"bufio"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// printJSON prints a document as kubectl does, to the byte where it is text, and writes it as it
// goes: a plan can have gigabytes, of which kubectl's printer makes two copies in memory.
//
// Upstream: cli-runtime/pkg/printers/json.go JSONPrinter.PrintObj.
func printJSON(doc runtime.Object, out io.Writer) error {
	if doc.GetObjectKind().GroupVersionKind().Empty() {
		return fmt.Errorf("a document of type %T has no kind", doc)
	}
	w := bufio.NewWriterSize(out, 64<<10)
	if err := json.MarshalWrite(w, doc, jsonv1.DefaultOptionsV1(), jsontext.WithIndent("    ")); err != nil {
		return err
	}
	if err := w.WriteByte('\n'); err != nil {
		return err
	}
	return w.Flush()
}
