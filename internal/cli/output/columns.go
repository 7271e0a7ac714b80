package output

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

// columns prints -o custom-columns. kubectl's own printer imports all types of Kubernetes; their
// initialisation takes longer than most commands.
//
// Upstream: kubectl/pkg/cmd/get/customcolumn.go NewCustomColumnsPrinterFromSpec.
type columns struct {
	headers   []string
	paths     []*jsonpath.JSONPath
	noHeaders bool
}

var errNoColumns = errors.New("custom-columns format specified but no custom columns given")

// columnsOf parses custom-columns=HEADER:PATH,… and custom-columns-file=FILE, a file with a line of
// headers and a line of paths. It returns false for any other format.
func columnsOf(format string, noHeaders bool) (*columns, bool, error) {
	name, spec, _ := strings.Cut(format, "=")
	if name != "custom-columns" && name != "custom-columns-file" {
		return nil, false, nil
	}
	if spec == "" {
		return nil, true, errNoColumns
	}
	k := &columns{noHeaders: noHeaders}
	if name == "custom-columns-file" {
		err := k.readFile(spec)
		return k, true, err
	}
	for pair := range strings.SplitSeq(spec, ",") {
		header, path, ok := strings.Cut(pair, ":")
		if !ok {
			return nil, true, fmt.Errorf("unexpected custom-columns spec: %s, expected <header>:<json-path-expr>", pair)
		}
		if err := k.add(header, path); err != nil {
			return nil, true, err
		}
	}
	return k, true, nil
}

func (k *columns) readFile(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("reading the columns: %w", err)
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	second, _, _ := strings.Cut(rest, "\n")
	headers, paths := strings.Fields(first), strings.Fields(second)
	switch {
	case len(headers) == 0:
		return errNoColumns
	case len(headers) != len(paths):
		return fmt.Errorf("number of headers (%d) and field specifications (%d) don't match", len(headers), len(paths))
	}
	for i := range headers {
		if err := k.add(headers[i], paths[i]); err != nil {
			return err
		}
	}
	return nil
}

func (k *columns) add(header, path string) error {
	parsed, err := fieldPath(path)
	if err != nil {
		return err
	}
	k.headers, k.paths = append(k.headers, header), append(k.paths, parsed)
	return nil
}

var relaxedPath = regexp.MustCompile(`^\{\.?([^{}]+)\}$|^\.?([^{}]+)$`)

// fieldPath parses a JSONPath to a field, as kubectl accepts it: a.b, .a.b, {a.b} or {.a.b}. A
// missing field is no error.
//
// Upstream: kubectl/pkg/cmd/get/customcolumn.go RelaxedJSONPathExpression.
func fieldPath(text string) (*jsonpath.JSONPath, error) {
	parsed := jsonpath.New("field").AllowMissingKeys(true)
	if text == "" {
		err := parsed.Parse("")
		return parsed, err
	}
	found := relaxedPath.FindStringSubmatch(text)
	if found == nil {
		return nil, errors.New("unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'")
	}
	err := parsed.Parse("{." + found[1] + found[2] + "}")
	return parsed, err
}

// PrintObj prints one row, or one for each row of a document that has rows. The paths apply to the
// JSON of the document, with escaped strings.
func (k *columns) PrintObj(document runtime.Object, w io.Writer) error {
	raw, err := json.Marshal(document)
	if err != nil {
		return err
	}
	var fields map[string]any
	if err := utiljson.Unmarshal(raw, &fields); err != nil { // numbers without a point are integers
		return err
	}
	render.EscapeStrings(fields)
	rows := rowsOf(fields)
	table := printers.GetNewTabWriter(w)
	if !k.noHeaders {
		fmt.Fprintln(table, strings.Join(k.headers, "\t"))
	}
	for _, row := range rows {
		cells := make([]string, len(k.paths))
		for i, path := range k.paths {
			if cells[i], err = cell(path, row); err != nil {
				return err
			}
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	return table.Flush()
}

// rowLists maps kinds of documents to the field with their rows; the default is items.
var rowLists = map[any]string{
	"Backups": "backups", "Checkup": "findings", "Diagnosis": "findings", "Graph": "nodes", "Lost": "losses", "Plan": "effects", "Run": "writes",
}

// rowsOf returns the rows of a document, or the document itself. Each row gets the metadata of its
// object under the field names of kubectl.
func rowsOf(document map[string]any) []any {
	rows, ok := document[cmp.Or(rowLists[document["kind"]], "items")].([]any)
	if !ok {
		return []any{document}
	}
	for _, r := range rows {
		row, _ := r.(map[string]any)
		for _, name := range []string{"object", "ref"} {
			if about, ok := row[name].(map[string]any); ok && row["metadata"] == nil {
				row["apiVersion"], row["kind"], row["metadata"] = about["apiVersion"], about["kind"], about
			}
		}
	}
	return rows
}

func cell(path *jsonpath.JSONPath, row any) (string, error) {
	results, err := path.FindResults(row)
	if err != nil {
		return "", err
	}
	if len(results) == 0 || len(results[0]) == 0 {
		return "<none>", nil
	}
	var values []string
	for _, result := range results {
		for _, v := range result {
			values = append(values, printers.EscapeTerminal(fmt.Sprint(v.Interface())))
		}
	}
	return strings.Join(values, ","), nil
}
