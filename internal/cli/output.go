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
	f.BoolVar(&o.noHeaders, "no-headers", false, "Leave out the line of column names.")
	f.BoolVar(&o.ascii, "ascii", false, "Draw with ASCII characters only.")
	f.StringVar(&o.colour, "color", "auto", "Colour: auto, always or never.")
}

// style is how a person at the other end of out sees best.
func (o *output) style(c *cobra.Command, out io.Writer) (render.Style, error) {
	s := render.Style{Wide: o.format == "wide", NoHeaders: o.noHeaders, ASCII: o.ascii || !utf8Locale()}
	switch o.colour {
	case "always":
		s.Colour = true
	case "auto":
		s.Colour = printers.AllowsColorOutput(out)
	case "never":
	default:
		return s, usageErrorf(c, "--color=%s: must be auto, always or never", o.colour)
	}
	if size := (term.TTY{Out: out}).GetSize(); size != nil {
		s.Width = int(size.Width)
	}
	return s, nil
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
func (o *output) forPeople() bool { return o.format == "" || o.format == "wide" || o.format == "name" }

// print writes a document in a machine format. It returns false when the format
// is one for people.
func (o *output) print(c *cobra.Command, out io.Writer, document runtime.Object) (bool, error) {
	if o.format == "" || o.format == "wide" || slices.Contains(o.own, o.format) {
		return false, nil
	}
	printer, ok, err := render.MachinePrinter(o.format)
	if err != nil {
		return true, usageErrorf(c, "%w", err)
	}
	if !ok {
		return true, usageErrorf(c, "--output=%s: unknown format", o.format)
	}
	return true, printer.PrintObj(document, out)
}
