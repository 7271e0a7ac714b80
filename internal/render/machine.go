package render

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/kubectl/pkg/cmd/get"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// MachinePrinter returns the printer of a machine-readable format: json, yaml,
// kyaml, name, and the jsonpath, go-template and custom-columns families with
// their arguments, as kubectl has them. It reports false for any other format,
// which is then one for people or none at all, and an error for a format whose
// argument is wrong.
func MachinePrinter(format string) (printers.ResourcePrinter, bool, error) {
	if format == "name" {
		return printers.ResourcePrinterFunc(printNames), true, nil
	}
	if strings.HasPrefix(format, "custom-columns") {
		p, err := get.NewCustomColumnsPrintFlags().ToPrinter(format)
		if genericclioptions.IsNoCompatiblePrinterError(err) {
			return nil, false, nil
		}
		if err != nil {
			return nil, true, fmt.Errorf("output format %q: %w", format, err)
		}
		return columnsPrinter{p}, true, nil
	}
	flags := genericclioptions.NewPrintFlags("").WithTypeSetter(report.Scheme).WithDefaultOutput(format)
	flags.NamePrintFlags = nil
	p, err := flags.ToPrinter()
	if genericclioptions.IsNoCompatiblePrinterError(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, fmt.Errorf("output format %q: %w", format, err)
	}
	return p, true, nil
}

// columnsPrinter shows kubectl's columns the document as its JSON is. Left to
// itself it would look at Go's fields, and at names with all their controls.
type columnsPrinter struct{ printers.ResourcePrinter }

// PrintObj prints one row of columns.
func (p columnsPrinter) PrintObj(doc runtime.Object, w io.Writer) error {
	raw, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	escapeStrings(fields)
	return p.ResourcePrinter.PrintObj(&unstructured.Unstructured{Object: fields}, w)
}

// escapeStrings escapes all strings within v, which is what encoding/json
// decodes into.
func escapeStrings(v any) any {
	switch v := v.(type) {
	case string:
		return Escape(v)
	case []any:
		for i := range v {
			v[i] = escapeStrings(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = escapeStrings(v[k])
		}
	}
	return v
}

// printNames prints one object a line, as kubectl takes it: what a plan
// deletes, what has findings, what a graph has seen, what was explained. Names
// are escaped, so that a line break in one does not make two.
func printNames(doc runtime.Object, w io.Writer) error {
	refs, err := namedBy(doc)
	if err != nil {
		return err
	}
	var b strings.Builder
	seen := make(map[report.Ref]bool, len(refs))
	for _, r := range refs {
		if !seen[r] {
			seen[r] = true
			b.WriteString(Escape(r.KubectlName()))
			b.WriteByte('\n')
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}

func namedBy(doc runtime.Object) ([]report.Ref, error) {
	var refs []report.Ref
	switch doc := doc.(type) {
	case *report.Plan:
		for _, e := range doc.Effects {
			if e.Outcome == report.Deleted {
				refs = append(refs, e.Object)
			}
		}
	case *report.Run:
		for _, x := range doc.Writes {
			if x.State == report.Confirmed {
				refs = append(refs, x.Object)
			}
		}
	case *report.Explanation:
		refs = append(refs, doc.Object)
	case *report.Diagnosis:
		for _, f := range doc.Findings {
			refs = append(refs, f.Object)
		}
	case *report.Exposure:
		for i := range doc.Dependents {
			refs = append(refs, doc.Dependents[i].Object)
		}
	case *report.Risk:
		for _, i := range doc.Items {
			refs = append(refs, i.Object)
		}
	case *report.Checkup:
		for _, f := range doc.Findings {
			if f.Object.Name != "" {
				refs = append(refs, f.Object)
			}
		}
	case *report.Graph:
		for _, n := range doc.Nodes {
			if !n.Virtual && !n.Missing {
				refs = append(refs, n.Ref)
			}
		}
	default:
		return nil, fmt.Errorf("no names are known of a %T", doc)
	}
	return refs, nil
}
