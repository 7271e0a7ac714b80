package cli

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/kubectl/pkg/util/term"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

// output says how to answer.
type output struct {
	format    string
	noHeaders bool
	ascii     bool
	colour    string
	sortBy    string
	templates templateFlags
	// own are the formats of the command beside those of every machine printer.
	own []string
}

const machineFormats = "json, yaml, kyaml, name, jsonpath=…, go-template=…, custom-columns=…"

func (o *output) addFlags(f *pflag.FlagSet) {
	own := ""
	if len(o.own) > 0 {
		own = strings.Join(o.own, ", ") + ", "
	}
	f.StringVarP(&o.format, "output", "o", "", "Output format: wide, "+own+machineFormats+".")
	_ = f.SetAnnotation("output", formatsOf, o.formats()) // it was added just now
	f.BoolVar(&o.noHeaders, "no-headers", false, "Leave out the line of column names.")
	f.BoolVar(&o.ascii, "ascii", false, "Draw with ASCII characters only.")
	o.templates.addFlags(f)
	addChoice(f, &o.colour, "color", "auto", "Colour: auto, always or never.", "auto", "always", "never")
}

// style is how a person at the other end of out sees best.
func (o *output) style(out io.Writer) render.Style {
	s := render.Style{Wide: o.format == "wide", NoHeaders: o.noHeaders, ASCII: o.ascii || !utf8Locale()}
	s.Colour = o.colour == "always" || o.colour == "auto" && (printers.AllowsColorOutput(out) || colourForced())
	if size := (term.TTY{Out: out}).GetSize(); size != nil {
		s.Width = int(size.Width)
	}
	return s
}

// utf8Locale is false when the locale says that the terminal cannot show more
// than ASCII.
func utf8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			v = strings.ToUpper(strings.ReplaceAll(v, "-", ""))
			return strings.Contains(v, "UTF8")
		}
	}
	return true
}

// forPeople tells whether the format is one that leaves things out.
func (o *output) forPeople() bool {
	format := o.templates.complete(o.format)
	return format == "" || format == "wide" || format == "name"
}

// asText reports whether the answer is a text of ours, and no document.
func (o *output) asText() bool {
	return o.format == "" || o.format == "wide" || slices.Contains(o.own, o.format)
}

// print writes a document in a machine format. It returns false when the format
// is one for people.
func (o *output) print(c *cobra.Command, out io.Writer, document runtime.Object) (bool, error) {
	if err := o.sort(c, document); err != nil {
		return true, err
	}
	o.format = o.templates.complete(o.format)
	if o.asText() {
		return false, nil
	}
	if k, ok, err := columnsOf(o.format, o.noHeaders); ok {
		if err != nil {
			return true, usageErrorf(c, "output format %q: %w", o.format, err)
		}
		return true, k.PrintObj(document, out)
	}
	printer, ok, err := render.MachinePrinter(o.format, o.templates.allowMissing)
	if err != nil {
		return true, usageErrorf(c, "%w", err)
	}
	if !ok {
		return true, o.unknownFormat(c)
	}
	return true, templateError(printer.PrintObj(document, out))
}

// format writes a document in one way.
type format func(io.Writer, render.Style) error

// formats are the formats of a command beside those of every machine printer, by the names
// that output.own lists.
type formats map[string]format

// show writes a document: in the format of machines that was asked for, in one of the
// command's own, or as text for people.
func (o *output) show(c *cobra.Command, out io.Writer, document runtime.Object, text format, own ...formats) error {
	if done, err := o.print(c, out, document); done || err != nil {
		return err
	}
	style := o.style(out)
	for _, table := range own {
		if write, ok := table[o.format]; ok {
			return write(out, style)
		}
	}
	return text(out, style)
}
