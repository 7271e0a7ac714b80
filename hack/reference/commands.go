package main

import (
	"bytes"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
)

// commandPages are the pages of docs/commands, by file name.
func commandPages() (map[string][]byte, error) {
	pages := map[string][]byte{}
	root := cli.NewCommand("kubectl gc", genericiooptions.IOStreams{})
	root.DisableAutoGenTag = true
	return pages, addPages(pages, root)
}

func addPages(pages map[string][]byte, c *cobra.Command) error {
	c.DisableAutoGenTag = true
	c.Long = strings.ReplaceAll(c.Long, "\n ", "\n") // kubectl's help indents paragraphs
	var page bytes.Buffer
	if err := doc.GenMarkdownCustom(c, &page, fileOf); err != nil {
		return err
	}
	if !c.HasParent() { // the flags of all commands stand on the first page
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	}
	pages["docs/commands/"+fileOf(c.CommandPath())+".md"] = page.Bytes()
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			continue
		}
		if err := addPages(pages, sub); err != nil {
			return err
		}
	}
	return nil
}

// fileOf is `kubectl_gc_dry-run.md` whatever cobra makes of the display name.
func fileOf(name string) string { return strings.ReplaceAll(name, " ", "_") }
