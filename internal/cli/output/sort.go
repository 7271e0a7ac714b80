package output

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// AddSortFlag adds --sort-by, for answers with rows.
func (o *Output) AddSortFlag(f *pflag.FlagSet) {
	f.StringVar(&o.sortBy, "sort-by", "", "Order the rows by this field of each, a JSONPath as .object.name; tables keep outcomes and severities together.")
	usage.Unlist(f, "sort-by")
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
		return usage.Errorf(c, "--sort-by=%s: %w", o.sortBy, err)
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
	slices.SortStableFunc(list, func(a, b keyed) int { return a.key.compare(b.key) })
	for i := range list {
		rows[i] = list[i].row
	}
	return nil
}

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

func (k key) compare(other key) int {
	switch {
	case k.has != other.has && !k.has, k.number < other.number:
		return -1
	case k.has != other.has, k.number > other.number:
		return 1
	}
	return strings.Compare(k.text, other.text)
}
