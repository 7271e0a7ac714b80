// Command release prepares and judges the archives of a release.
//
//	release stage DIR               write what goes into the archives beside the
//	                                binary: completion scripts
//	release verify DIR              check the archives in DIR: checksums, content,
//	                                krew.yaml; run the one of this machine
//	release sum DIR                 print the hash of each archive in DIR
//	release date VERSION            print the time that the files of a version bear
//	release krew VERSION DIR        write krew.yaml from the archives in DIR
//	release krew-check VERSION DIR  fail if krew.yaml is not of these archives
//	release sbom ARCHIVE FILE       write what the program in an archive is made of
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 3 {
		switch args[0] {
		case "sbom":
			return sbom(args[1], args[2])
		case "krew":
			return krew(args[1], args[2])
		case "krew-check":
			return checkKrew(args[1], args[2])
		}
	}
	if len(args) != 2 {
		return errors.New("usage: release stage|verify|sum DIR, release date VERSION, release krew|krew-check VERSION DIR, or release sbom ARCHIVE FILE")
	}
	switch verb, dir := args[0], args[1]; verb {
	case "date":
		return date(args[1], out)
	case "stage":
		return stage(ctx, dir)
	case "verify":
		return verify(ctx, dir, out)
	case "sum":
		return sum(dir, out)
	default:
		return fmt.Errorf("unknown verb %q", verb)
	}
}
