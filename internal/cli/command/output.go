package command

import (
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

// Output selects how to print an answer.
type Output struct {
	Format          string
	noHeaders       bool
	ascii           bool
	colour          string
	sortBy          string
	template        string
	allowMissing    bool // template fields that are not there are no error
	requireComplete bool
	// Own are the formats of the command in addition to the machine formats.
	Own []string
}

const machineFormats = "json, jsonl, yaml, kyaml, name, jsonpath=…, go-template=…, custom-columns=…"

// AddFlags adds the flags common to all answers.
func (o *Output) AddFlags(f *pflag.FlagSet) {
	own := ""
	if len(o.Own) > 0 {
		own = strings.Join(o.Own, ", ") + ", "
	}
	f.StringVarP(&o.Format, "output", "o", "", "Output format: wide, "+own+machineFormats+".")
	_ = f.SetAnnotation("output", FormatsOf, o.formats()) // the flag was just added
	f.BoolVar(&o.noHeaders, "no-headers", false, "Leave out the line of column names.")
	f.BoolVar(&o.ascii, "ascii", false, "Draw with ASCII characters only.")
	f.StringVar(&o.template, "template", "", "The template, or the path of its file, of -o go-template, jsonpath and their kin; without -o it is a go-template.")
	f.BoolVar(&o.allowMissing, "allow-missing-template-keys", true, "In templates, pass over fields that are not there.")
	AddChoice(f, &o.colour, "color", "auto", "Colour: auto, always or never.", "auto", "always", "never")
	Unlist(f, "no-headers", "ascii", "template", "allow-missing-template-keys", "color")
}

// AddCompleteFlag adds --require-complete.
func (o *Output) AddCompleteFlag(f *pflag.FlagSet, help string) {
	f.BoolVar(&o.requireComplete, "require-complete", false, help)
}

// UnlessComplete returns the error Incomplete if a complete answer was required but some input was
// missing.
func (o *Output) UnlessComplete(complete bool) error {
	if o.requireComplete && !complete {
		return &Exit{Code: Incomplete, Message: "--require-complete: the answer depends on something that could not be read"}
	}
	return nil
}

// Verdict returns the error of a finished check: Findings if there are any, else that of
// UnlessComplete.
func (o *Output) Verdict(findings, complete bool) error {
	if findings {
		return &Exit{Code: Findings}
	}
	return o.UnlessComplete(complete)
}

// style returns the style for a reader of out.
func (o *Output) style(out io.Writer) render.Style {
	s := render.Style{Wide: o.Format == "wide", NoHeaders: o.noHeaders, ASCII: o.ascii || !UTF8Locale()}
	force := os.Getenv("CLICOLOR_FORCE") // NO_COLOR takes precedence
	_, no := os.LookupEnv("NO_COLOR")
	forced := force != "" && force != "0" && !no
	s.Colour = o.colour == "always" || o.colour == "auto" && (printers.AllowsColorOutput(out) || forced)
	s.Width = Columns(out)
	return s
}

// UTF8Locale reports whether the locale supports UTF-8. An unset locale does.
func UTF8Locale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			v = strings.ToUpper(strings.ReplaceAll(v, "-", ""))
			return strings.Contains(v, "UTF8")
		}
	}
	return true
}

// Full returns the format with its template.
func (o *Output) Full() string {
	if o.template == "" || strings.Contains(o.Format, "=") {
		return o.Format
	}
	return cmp.Or(o.Format, "go-template") + "=" + o.template
}

// ForPeople reports whether the format is text, wide or name. These omit much of the document.
func (o *Output) ForPeople() bool {
	format := o.Full()
	return format == "" || format == "wide" || format == "name"
}

// PlaysSteps reports whether the format includes the steps of a plan by default: an HTML page plays
// them.
func (o *Output) PlaysSteps() bool { return o.Format == "html" }

// AsText reports whether the answer is text or a format of the command, not a machine format.
func (o *Output) AsText() bool {
	return o.Format == "" || o.Format == "wide" || slices.Contains(o.Own, o.Format)
}

// Print writes a document in a machine format. It returns false for text and the command's own
// formats, and an error for an unknown one.
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
			return true, Errorf(c, "output format %q: %w", o.Format, err)
		}
		return true, k.PrintObj(document, out)
	}
	printer, ok, err := render.MachinePrinter(o.Format, o.allowMissing)
	if err != nil {
		return true, Errorf(c, "%w", err)
	}
	if !ok {
		return true, o.unknownFormat(c)
	}
	return true, templateError(printer.PrintObj(document, out))
}

// Writer writes a document in one format.
type Writer func(io.Writer, render.Style) error

// Formats maps the names in Output.Own to their writers.
type Formats map[string]Writer

// Show writes a document in the selected format: a machine format, one of the command, or text.
func (o *Output) Show(c *cobra.Command, out io.Writer, document runtime.Object, text Writer, own ...Formats) error {
	connection := Connection(c)
	connection.Connect(document)
	if done, err := o.Print(c, out, document); done || err != nil {
		return err
	}
	style := o.style(out)
	style.Connection = connection
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

// FormatsOf is the annotation of --output with the formats of the command.
const FormatsOf = "kubectl-gc.io/formats"

// familiar are the formats of kubectl, and jsonl. Those that end in = need an argument.
var familiar = []string{
	"wide", "json", "jsonl", "yaml", "kyaml", "name", "jsonpath=", "jsonpath-as-json=", "jsonpath-file=", "go-template=", "go-template-file=",
	"custom-columns=", "custom-columns-file=",
}

// formats returns all formats of a command.
func (o *Output) formats() []string { return append(slices.Clone(familiar), o.Own...) }

// templateError returns the error of a failed template without the document that the printers
// append.
func templateError(err error) error {
	if err == nil {
		return nil
	}
	message, _, cut := strings.Cut(err.Error(), ". Printing more information")
	if !cut {
		return err
	}
	return errors.New(message)
}

// unknownFormat lists the formats.
func (o *Output) unknownFormat(c *cobra.Command) error {
	name, _, _ := strings.Cut(o.Format, "=")
	names := o.formats()
	for i := range names {
		names[i] = strings.TrimSuffix(names[i], "=")
	}
	return Errorf(c, "--output=%s: unknown format; there are %s%s", o.Format, strings.Join(names, ", "),
		DidYouMean(Nearest(strings.ToLower(name), names)))
}
