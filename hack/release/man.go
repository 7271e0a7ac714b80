package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
)

// manPages are the manual pages of all commands, by file name. They bear the names of
// `man kubectl-gc-explain`.
func manPages() (map[string][]byte, error) {
	pages := map[string][]byte{}
	root := cli.NewCommand("kubectl gc", genericiooptions.IOStreams{})
	return pages, addManPages(pages, root)
}

func addManPages(pages map[string][]byte, c *cobra.Command) error {
	c.DisableAutoGenTag = true
	c.Long = strings.ReplaceAll(c.Long, "\n ", "\n") // kubectl's help indents paragraphs
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	c.Flags().VisitAll(func(f *pflag.Flag) { f.Hidden = f.Hidden && !command.IsUnlisted(f) }) // a manual has all of them
	date := time.Unix(0, 0).UTC()                                                             // cobra takes today where there is none
	header := doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Date: &date, Source: "kubectl-gc", Manual: "kubectl gc"}
	var page bytes.Buffer
	if err := doc.GenMan(c, &header, &page); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	pages[name+".1"] = portable(page.Bytes())
	if !c.HasParent() { // the flags of all commands stand on the first page
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	}
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := addManPages(pages, sub); err != nil {
			return err
		}
	}
	return nil
}

// flagForm is a flag as cobra writes it: a paragraph with a tab in it.
var flagForm = regexp.MustCompile(`(?m)^(?:\.PP\n)?(\\fB-.*)\n\t(.*)$`)

// portable makes of flags a list with hanging texts, takes the date off, since a page
// is as old as the program that it comes with, and writes letters beyond ASCII in the
// way that every formatter reads.
func portable(page []byte) []byte {
	text := flagForm.ReplaceAllString(string(page), ".TP\n$1\n\\&$2")
	text = strings.Replace(strings.ReplaceAll(text, "[=false]", ""), `"Jan 1970"`, `""`, 1)
	var out bytes.Buffer
	for _, r := range text {
		if r < utf8.RuneSelf {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, `\[u%04X]`, r)
		}
	}
	return out.Bytes()
}
