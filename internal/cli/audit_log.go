package cli

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/internal/audit"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/history"
)

// auditLogs are files with audit logs, one for each API server; "-" is the standard input.
type auditLogs struct {
	names []string
	files []io.Reader
}

func (l *auditLogs) addFlag(f *pflag.FlagSet) {
	f.StringArrayVar(&l.names, "audit-log", nil, "Name the sender of each delete, from this audit log (JSON lines, also gzipped; - for stdin). Repeat it for several API servers.")
}

// open opens the logs. It runs before other input is read.
func (l *auditLogs) open(c *cobra.Command, in io.Reader) error {
	stdin := false
	for _, name := range l.names {
		if name == "-" {
			if stdin {
				return usage.Errorf(c, "--audit-log=- may be given once")
			}
			stdin = true
			l.files = append(l.files, in)
			continue
		}
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		l.files = append(l.files, file)
	}
	return nil
}

func (l *auditLogs) close() {
	for i, name := range l.names[:len(l.files)] {
		if file, ok := l.files[i].(io.Closer); ok && name != "-" {
			_ = file.Close()
		}
	}
}

// read returns the entries of the logs for the time of a past; nil if there are no logs.
func (l *auditLogs) read(past *history.Past) (*audit.Log, error) {
	if len(l.names) == 0 {
		return nil, nil
	}
	log := &audit.Log{}
	for i, name := range l.names {
		if name == "-" {
			name = "standard input"
		}
		if err := log.Read(name, l.files[i], past.Logged()); err != nil {
			return nil, errors.New("audit log " + err.Error())
		}
	}
	return log, nil
}
