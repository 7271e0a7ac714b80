package output

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
)

// FormatsOf is the annotation of --output with the formats of the command.
const FormatsOf = "kubectl-gc.io/formats"

// familiar are the formats of kubectl, and jsonl. Those that end in = need an argument.
var familiar = []string{
	"wide", "json", "jsonl", "yaml", "kyaml", "name", "jsonpath=", "jsonpath-as-json=", "jsonpath-file=", "go-template=", "go-template-file=",
	"custom-columns=", "custom-columns-file=",
}

// formats returns all formats of a command.
func (o *Output) formats() []string { return append(slices.Clone(familiar), o.Own...) }

// templateFlags are the template flags of kubectl.
type templateFlags struct {
	template     string
	allowMissing bool
}

func (t *templateFlags) addFlags(f *pflag.FlagSet) {
	f.StringVar(&t.template, "template", "", "The template, or the path of its file, of -o go-template, jsonpath and their kin; without -o it is a go-template.")
	f.BoolVar(&t.allowMissing, "allow-missing-template-keys", true, "In templates, pass over fields that are not there.")
}

// complete returns the format with its template.
func (t *templateFlags) complete(format string) string {
	if t.template == "" || strings.Contains(format, "=") {
		return format
	}
	return cmp.Or(format, "go-template") + "=" + t.template
}

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
	return usage.Errorf(c, "--output=%s: unknown format; there are %s%s", o.Format, strings.Join(names, ", "),
		usage.DidYouMean(usage.Nearest(strings.ToLower(name), names)))
}

// colourForced reports whether the environment forces colour without a terminal. NO_COLOR takes
// precedence.
func colourForced() bool {
	force := os.Getenv("CLICOLOR_FORCE")
	_, no := os.LookupEnv("NO_COLOR")
	return force != "" && force != "0" && !no
}
