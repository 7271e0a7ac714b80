package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// source says where the world comes from.
type source struct {
	from          []string
	allowPartial  bool
	missingAbsent bool
}

func (s *source) addFlags(f *pflag.FlagSet) {
	f.StringArrayVar(&s.from, "from", nil,
		"Read a dump: a file, directory, tar, tar.gz or zip, or - for standard input. Repeat it to read several as one.")
	f.BoolVar(&s.allowPartial, "allow-partial", false,
		"Go on when a file of the dump is truncated or broken; what it would have shown counts as unknown.")
	f.BoolVar(&s.missingAbsent, "treat-missing-as-absent", false,
		"Take everything that the dump does not contain for absent. Wrong answers follow if that is not so.")
}

// usesStdin tells whether a dump comes from standard input.
func (s *source) usesStdin() bool { return slices.Contains(s.from, "-") }

// read reads the snapshot and reports its problems on stderr.
func (s *source) read(c *cobra.Command, in io.Reader, errOut io.Writer) (*snapshot.Snapshot, error) {
	if len(s.from) == 0 {
		return nil, usageErrorf(c, "no source: give a dump with --from; this version does not read live clusters")
	}
	snap, err := snapshot.ReadFiles(s.from, snapshot.Options{
		Stdin: in, AllowPartial: s.allowPartial, TreatMissingAsAbsent: s.missingAbsent,
	})
	if err != nil {
		return nil, err
	}
	const most = 10
	for i, p := range snap.Problems {
		if i == most {
			fmt.Fprintf(errOut, "warning: and %d more remarks on the input\n", len(snap.Problems)-most)
			break
		}
		fmt.Fprintln(errOut, "warning: "+render.Escape(p.Message))
	}
	if s.missingAbsent && len(snap.Gaps) > 0 {
		fmt.Fprintln(errOut, "warning: what the dump does not contain is taken for absent; where that is wrong, so is the answer")
	}
	if len(snap.Objects) == 0 {
		fmt.Fprintln(errOut, "warning: the input holds no objects")
	}
	return snap, nil
}
