// Package output is how a command answers: the formats of documents, texts and pictures,
// the order of rows, and what the terminal can show.
package output

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/progress"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

// Output says how to answer.
type Output struct {
	Format    string
	noHeaders bool
	ascii     bool
	colour    string
	sortBy    string
	templates templateFlags
	// Own are the formats of the command beside those of every machine printer.
	Own []string
}

const machineFormats = "json, jsonl, yaml, kyaml, name, jsonpath=…, go-template=…, custom-columns=…"

// AddFlags adds those that every answer has.
func (o *Output) AddFlags(f *pflag.FlagSet) {
	own := ""
	if len(o.Own) > 0 {
		own = strings.Join(o.Own, ", ") + ", "
	}
	f.StringVarP(&o.Format, "output", "o", "", "Output format: wide, "+own+machineFormats+".")
	_ = f.SetAnnotation("output", FormatsOf, o.formats()) // it was added just now
	f.BoolVar(&o.noHeaders, "no-headers", false, "Leave out the line of column names.")
	f.BoolVar(&o.ascii, "ascii", false, "Draw with ASCII characters only.")
	o.templates.addFlags(f)
	usage.AddChoice(f, &o.colour, "color", "auto", "Colour: auto, always or never.", "auto", "always", "never")
	usage.Unlist(f, "no-headers", "ascii", "template", "allow-missing-template-keys", "color")
}

// style is how a person at the other end of out sees best.
func (o *Output) style(out io.Writer) render.Style {
	s := render.Style{Wide: o.Format == "wide", NoHeaders: o.noHeaders, ASCII: o.ascii || !UTF8Locale()}
	s.Colour = o.colour == "always" || o.colour == "auto" && (printers.AllowsColorOutput(out) || colourForced())
	s.Width = progress.Columns(out)
	return s
}

// UTF8Locale is false when the locale says that the terminal cannot show more
// than ASCII.
func UTF8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			v = strings.ToUpper(strings.ReplaceAll(v, "-", ""))
			return strings.Contains(v, "UTF8")
		}
	}
	return true
}

// Full is the format with its template.
func (o *Output) Full() string { return o.templates.complete(o.Format) }

// ForPeople reports whether the format is one that leaves things out.
func (o *Output) ForPeople() bool {
	format := o.Full()
	return format == "" || format == "wide" || format == "name"
}

// PlaysSteps reports whether the format shows the steps of a plan without being asked to: a page
// plays them.
func (o *Output) PlaysSteps() bool { return o.Format == "html" }

// AsText reports whether the answer is a text of ours, and no document.
func (o *Output) AsText() bool {
	return o.Format == "" || o.Format == "wide" || slices.Contains(o.Own, o.Format)
}

// Print writes a document in a machine format. It returns false when the format
// is one for people.
func (o *Output) Print(c *cobra.Command, out io.Writer, document runtime.Object) (bool, error) {
	if err := o.sort(c, document); err != nil {
		return true, err
	}
	o.Format = o.Full()
	if o.AsText() {
		return false, nil
	}
	if k, ok, err := columnsOf(o.Format, o.noHeaders); ok {
		if err != nil {
			return true, usage.Errorf(c, "output format %q: %w", o.Format, err)
		}
		return true, k.PrintObj(document, out)
	}
	printer, ok, err := render.MachinePrinter(o.Format, o.templates.allowMissing)
	if err != nil {
		return true, usage.Errorf(c, "%w", err)
	}
	if !ok {
		return true, o.unknownFormat(c)
	}
	return true, templateError(printer.PrintObj(document, out))
}

// Writer writes a document in one way.
type Writer func(io.Writer, render.Style) error

// Formats are the formats of a command beside those of every machine printer, by the names
// that output.own lists.
type Formats map[string]Writer

// Show writes a document: in the format of machines that was asked for, in one of the
// command's own, or as text for people.
func (o *Output) Show(c *cobra.Command, out io.Writer, document runtime.Object, text Writer, own ...Formats) error {
	if done, err := o.Print(c, out, document); done || err != nil {
		return err
	}
	style := o.style(out)
	for _, table := range own {
		if write, ok := table[o.Format]; ok {
			return write(out, style)
		}
	}
	if slices.Contains(o.Own, o.Format) {
		return o.unknownFormat(c)
	}
	return text(out, style)
}
