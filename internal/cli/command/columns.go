package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
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

// AddSortFlag adds --sort-by, for answers with rows.
func (o *Output) AddSortFlag(f *pflag.FlagSet) {
	f.StringVar(&o.sortBy, "sort-by", "", "Order the rows by this field of each, a JSONPath as .object.name; tables keep outcomes and severities together.")
	Unlist(f, "sort-by")
}

// sort sorts the rows of a document by --sort-by.
func (o *Output) sort(c *cobra.Command, document runtime.Object) error {
	if o.sortBy == "" {
		return nil
	}
	var err error
	switch doc := document.(type) {
	case *report.Plan:
		err = sortRows(doc.Effects, o.sortBy)
	case *report.Run:
		err = sortRows(doc.Writes, o.sortBy)
	case *report.Diagnosis:
		err = sortRows(doc.Findings, o.sortBy)
	case *report.Checkup:
		err = sortRows(doc.Findings, o.sortBy)
	case *report.Lost:
		err = sortRows(doc.Losses, o.sortBy)
	case *report.Risk:
		err = sortRows(doc.Items, o.sortBy)
	}
	if err != nil {
		return Errorf(c, "--sort-by=%s: %w", o.sortBy, err)
	}
	return nil
}

// key is the value that a row is sorted by.
type key struct {
	has    bool
	number float64
	text   string
}

// sortRows sorts rows stably by a field of their JSON. As with kubectl, rows without the field come
// first.
func sortRows[T any](rows []T, field string) error {
	path, err := fieldPath(field)
	if err != nil {
		return err
	}
	type keyed struct {
		key key
		row T
	}
	list := make([]keyed, len(rows))
	found := len(rows) == 0
	for i, row := range rows {
		k, err := keyOf(path, row)
		if err != nil {
			return err
		}
		list[i] = keyed{k, row}
		found = found || k.has
	}
	if !found {
		return errors.New("no row has such a field")
	}
	slices.SortStableFunc(list, func(a, b keyed) int {
		switch {
		case a.key.has && !b.key.has:
			return 1
		case b.key.has && !a.key.has:
			return -1
		}
		return cmp.Or(cmp.Compare(a.key.number, b.key.number), strings.Compare(a.key.text, b.key.text))
	})
	for i := range list {
		rows[i] = list[i].row
	}
	return nil
}

// keyOf returns the first value at a path in the JSON of a row. A list or an object is an error.
func keyOf(path *jsonpath.JSONPath, row any) (key, error) {
	raw, err := json.Marshal(row)
	if err != nil {
		return key{}, err
	}
	var fields any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return key{}, err
	}
	results, err := path.FindResults(fields)
	if err != nil || len(results) == 0 || len(results[0]) == 0 {
		return key{}, err
	}
	v := results[0][0]
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch {
	case !v.IsValid():
		return key{}, nil
	case v.Kind() == reflect.Float64:
		return key{has: true, number: v.Float()}, nil
	case v.Kind() == reflect.String:
		return key{has: true, text: v.String()}, nil
	case v.Kind() == reflect.Bool:
		return key{has: true, text: fmt.Sprint(v.Bool())}, nil
	}
	return key{}, errors.New("it is a list or an object, and not a text or a number")
}
