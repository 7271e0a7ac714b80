package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// MachinePrinter returns the printer of a machine-readable format: json, jsonl, yaml, kyaml, name,
// and the jsonpath and go-template families with their arguments, as in kubectl. It returns false
// for any other format, and an error for an invalid argument. Unless missingKeys is set, a missing
// field is an error in a template.
func MachinePrinter(format string, missingKeys bool) (printers.ResourcePrinter, bool, error) {
	switch format {
	case "name":
		return printers.ResourcePrinterFunc(printNames), true, nil
	case "json":
		return withKind(printJSON), true, nil
	case "jsonl":
		return withKind(printLines), true, nil
	case "yaml":
		return withKind(yamlPrinter(&printers.YAMLPrinter{})), true, nil
	case "kyaml":
		return withKind(yamlPrinter(&printers.KYAMLPrinter{})), true, nil
	}
	flags := genericclioptions.NewPrintFlags("").WithTypeSetter(report.Scheme).WithDefaultOutput(format)
	flags.NamePrintFlags = nil
	*flags.TemplatePrinterFlags.AllowMissingKeys = missingKeys
	p, err := flags.ToPrinter()
	if genericclioptions.IsNoCompatiblePrinterError(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, fmt.Errorf("output format %q: %w", format, err)
	}
	return p, true, nil
}

// yamlPrinter prints a document as YAML. It escapes characters that a YAML parser refuses: names of
// roles, and names in a dump, can contain them.
func yamlPrinter(printer printers.ResourcePrinter) printers.ResourcePrinterFunc {
	return func(doc runtime.Object, w io.Writer) error {
		text, err := json.Marshal(doc)
		if err != nil {
			return err
		}
		var escaped bytes.Buffer
		for _, r := range string(text) {
			if r >= 0x7f && r <= 0x9f || r == 0xfffe || r == 0xffff {
				fmt.Fprintf(&escaped, `\u%04x`, r)
			} else {
				escaped.WriteRune(r)
			}
		}
		sorted, err := yaml.JSONToYAML(escaped.Bytes())
		if err != nil {
			return err
		}
		return printer.PrintObj(&runtime.Unknown{Raw: sorted}, w)
	}
}

// withKind adds the kind to a document while it is printed.
func withKind(write printers.ResourcePrinterFunc) printers.ResourcePrinter {
	return printers.NewTypeSetter(report.Scheme).ToPrinter(write)
}

// EscapeStrings escapes all strings within v, a decoded JSON value.
func EscapeStrings(v any) any {
	switch v := v.(type) {
	case string:
		return Escape(v)
	case []any:
		for i := range v {
			v[i] = EscapeStrings(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = EscapeStrings(v[k])
		}
	}
	return v
}

// printNames prints one object a line, as kubectl accepts it: the objects that a plan deletes, with
// findings, in a graph, or explained. Of backups it prints the names that undo takes. Names are escaped,
// so that a line break in one does not make two.
func printNames(doc runtime.Object, w io.Writer) error {
	var names []string
	if list, ok := doc.(*report.Backups); ok {
		names = object.Mapped(list.Backups, func(b report.Backup) string { return b.Name })
	} else {
		refs, err := refsOf(doc)
		if err != nil {
			return err
		}
		names = object.Mapped(object.Distinct(refs), object.Ref.KubectlName)
	}
	var b strings.Builder
	for _, name := range names {
		b.WriteString(Escape(name))
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func refsOf(doc runtime.Object) ([]object.Ref, error) {
	var refs []object.Ref
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
		refs = append(refs, object.Mapped(doc.Findings, func(f report.Finding) object.Ref { return f.Object })...)
	case *report.Undo:
		refs = append(refs, object.Mapped(doc.Steps, func(u report.UndoStep) object.Ref { return u.Object })...)
	case *report.Risk:
		refs = append(refs, object.Mapped(doc.Items, func(i report.RiskItem) object.Ref { return i.Object })...)
	case *report.Lost:
		refs = append(refs, object.Mapped(doc.Losses, func(l report.Loss) object.Ref { return l.Object })...)
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
		return nil, fmt.Errorf("--output=name: a document of kind %s has no objects", doc.GetObjectKind().GroupVersionKind().Kind)
	}
	return refs, nil
}
