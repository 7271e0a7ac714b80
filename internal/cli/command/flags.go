package command

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Choice is the value of a flag with a fixed set of values.
type Choice struct {
	value *string
	// Known are the listed values.
	Known []string
	// Old are accepted values that are not listed.
	Old []string
}

// AddChoice adds a flag with a fixed set of values.
func AddChoice(f *pflag.FlagSet, value *string, name, usual, help string, known ...string) *pflag.Flag {
	*value = usual
	return f.VarPF(&Choice{value: value, Known: known}, name, "", help)
}

// String returns the value.
func (k *Choice) String() string { return *k.value }

// Type returns the type of the value in the help.
func (k *Choice) Type() string { return "string" }

// Set accepts one of the known or old values.
func (k *Choice) Set(value string) error {
	if !slices.Contains(k.Known, value) && !slices.Contains(k.Old, value) {
		last := len(k.Known) - 1
		return fmt.Errorf("must be %s or %s%s", strings.Join(k.Known[:last], ", "), k.Known[last], DidYouMean(Nearest(strings.ToLower(value), k.Known)))
	}
	*k.value = value
	return nil
}

// Size is a flag for a size in bytes, in the format of Kubernetes quantities.
type Size int64

// String returns the size; empty if the flag was not given.
func (q *Size) String() string {
	if *q == 0 {
		return ""
	}
	return resource.NewQuantity(int64(*q), resource.DecimalSI).String()
}

// Set accepts 500M, 2Gi or a number of bytes.
func (q *Size) Set(text string) error {
	parsed, err := resource.ParseQuantity(text)
	if err != nil || parsed.Sign() <= 0 || parsed.Value() == math.MaxInt64 {
		return fmt.Errorf("%q is not a size like 500M or 2Gi", text)
	}
	*q = Size(parsed.Value())
	return nil
}

// Type returns the type of the value in the help.
func (*Size) Type() string { return "size" }

// DidYouMean returns the end of a message with suggestions.
func DidYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// Nearest returns up to three candidates that start with word, or that differ from it only by a few
// letters or by the order of its letters.
func Nearest(word string, candidates []string) []string {
	type scored struct {
		text     string
		distance int
	}
	letters := func(text string) []rune { return slices.Sorted(slices.Values([]rune(text))) }
	var near []scored
	for _, c := range candidates {
		d := levenshtein.ComputeDistance(word, c)
		if slices.Equal(letters(word), letters(c)) {
			d = 0
		}
		if d <= max(1, len(word)/4) || len(word) >= 3 && strings.HasPrefix(c, word) {
			near = append(near, scored{c, d})
		}
	}
	slices.SortFunc(near, func(a, b scored) int {
		return cmp.Or(a.distance-b.distance, strings.Compare(a.text, b.text))
	})
	var texts []string
	for _, n := range near {
		if !slices.Contains(texts, n.text) && len(texts) < 3 {
			texts = append(texts, n.text)
		}
	}
	return texts
}

// unlisted is the annotation of a rarely used flag.
const unlisted = "kubectl-gc.io/unlisted"

// Unlist hides flags in the help of a command, so that common flags stand out. The command still
// accepts them, and `kubectl gc options` lists them.
func Unlist(f *pflag.FlagSet, names ...string) {
	for _, name := range names {
		flag := f.Lookup(name)
		flag.Hidden = true
		_ = f.SetAnnotation(name, unlisted, nil) // the flag was just found
	}
}

// IsUnlisted reports whether Unlist has hidden a flag.
func IsUnlisted(flag *pflag.Flag) bool {
	_, ok := flag.Annotations[unlisted]
	return ok
}

// UnlistedOf returns visible copies of the unlisted flags of a command.
func UnlistedOf(c *cobra.Command) *pflag.FlagSet {
	found := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if IsUnlisted(flag) {
			shown := *flag
			shown.Hidden = false
			found.AddFlag(&shown)
		}
	})
	return found
}

// NewConfig returns the flags of kubectl that select a cluster and a user. Commands with a
// namespace add that flag themselves.
func NewConfig() *genericclioptions.ConfigFlags {
	config := genericclioptions.NewConfigFlags(true)
	config.Namespace = nil
	return config
}

// Connection returns the given flags that select a cluster and a user, and the dumps that can be read
// again. Every printed command has those that it knows.
func Connection(c *cobra.Command) report.Connection {
	known := pflag.NewFlagSet("", pflag.ContinueOnError)
	NewConfig().AddFlags(known)
	var flags report.Connection
	c.Flags().Visit(func(f *pflag.Flag) {
		if known.Lookup(f.Name) != nil || f.Name == "from" {
			flags = append(flags, FlagWords(f)...)
		}
	})
	return slices.DeleteFunc(flags, func(flag string) bool { return flag == "--from=-" })
}

// FlagWords returns a flag with its value, as it is typed. A flag that does not split its value at
// commas, such as --as-group, is repeated.
func FlagWords(f *pflag.Flag) []string {
	name, values := "--"+f.Name, []string{f.Value.String()}
	switch list, several := f.Value.(pflag.SliceValue); {
	case f.Name == "token", f.Name == "password":
		return []string{name + "=…"} // keeps secrets out of logs
	case values[0] == "true" && f.NoOptDefVal == "true":
		return []string{name}
	case several && f.Value.Type() == "stringArray":
		values = list.GetSlice()
	case several:
		values[0] = strings.Join(list.GetSlice(), ",")
	}
	return object.Mapped(values, func(value string) string { return name + "=" + report.ShellWord(value) })
}
