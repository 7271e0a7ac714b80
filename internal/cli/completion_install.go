package cli

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

// completionInstall is `completion install`.
type completionInstall struct {
	streams   genericiooptions.IOStreams
	dir       string
	uninstall bool
}

func newCompletionInstall(streams genericiooptions.IOStreams) *cobra.Command {
	i := &completionInstall{streams: streams}
	c := &cobra.Command{
		Use:   "install",
		Short: "Put kubectl_complete-gc where kubectl finds it",
		Long: text(`
			Put kubectl_complete-gc where kubectl finds it: a link to this program (on Windows a
			copy) beside it, or in the first directory of PATH that can be written to. A file of
			that name that is not ours is left alone.`),
		Example: templates.Examples(`
			# Beside the program, or in the first directory of PATH that can be written to
			kubectl gc completion install --dir /tmp/bin

			# Take it away again
			kubectl gc completion install --uninstall --dir /tmp/bin`),
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return i.run() },
	}
	c.Flags().StringVar(&i.dir, "dir", "", "The directory to put it into. It should be one of PATH.")
	c.Flags().BoolVar(&i.uninstall, "uninstall", false, "Take away what was installed.")
	return c
}

// completionName is the file that kubectl looks for.
func completionName() string {
	name := completing + "gc"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return name
}

func (i *completionInstall) run() error {
	program, err := thisProgram()
	if err != nil {
		return err
	}
	if i.uninstall {
		return i.remove(program)
	}
	dir := i.dir
	if dir == "" {
		if dir, err = completionDirectory(program); err != nil {
			return err
		}
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	link := filepath.Join(dir, completionName())
	switch ours, err := isOurs(link); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !ours:
		return fmt.Errorf("%s is there and is not ours: move it away, or give another --dir", render.Escape(link))
	default:
		if err := os.Remove(link); err != nil {
			return err
		}
	}
	if err := linkTo(program, link); err != nil {
		return err
	}
	fmt.Fprintf(i.streams.Out, "%s now leads to %s\n", render.Escape(link), render.Escape(program))
	if !onPath(dir) {
		fmt.Fprintf(i.streams.ErrOut, "warning: %s is not on PATH, so that kubectl does not find it there\n", render.Escape(dir))
	}
	return nil
}

// remove takes away what was installed, in the directory or anywhere on PATH.
func (i *completionInstall) remove(program string) error {
	dirs := []string{i.dir}
	if i.dir == "" {
		dirs = append([]string{filepath.Dir(program)}, pathDirectories()...)
	}
	for _, dir := range dirs {
		link := filepath.Join(dir, completionName())
		switch ours, err := isOurs(link); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case ours:
			if err := os.Remove(link); err != nil {
				return err
			}
			fmt.Fprintf(i.streams.Out, "%s is removed\n", render.Escape(link))
			return nil
		case i.dir != "":
			return fmt.Errorf("%s is not ours: it is left alone", render.Escape(link))
		}
	}
	fmt.Fprintln(i.streams.ErrOut, "There is nothing to remove.")
	return nil
}

// thisProgram is the file to link to: as PATH has it, which stays when a new version
// is installed beside the old one, else where it runs from.
func thisProgram() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	for _, name := range []string{"kubectl-gc", filepath.Base(self)} {
		found, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if found, err = filepath.Abs(found); err == nil && sameFile(found, self) {
			return found, nil
		}
	}
	return self, nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// completionDirectory is the directory of the program if kubectl looks there and it can
// be written to, else the first one of PATH that can.
func completionDirectory(program string) (string, error) {
	if beside := filepath.Dir(program); onPath(beside) && writable(beside) {
		return beside, nil
	}
	for _, dir := range pathDirectories() {
		if writable(dir) {
			return dir, nil
		}
	}
	return "", errors.New("no directory of PATH can be written to: give one with --dir")
}

// pathDirectories are the directories of PATH. Relative ones mean another place for
// every command.
func pathDirectories() []string {
	var dirs []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func onPath(dir string) bool {
	for _, d := range pathDirectories() {
		if sameFile(d, dir) {
			return true
		}
	}
	return false
}

// writable tries, for rights alone do not tell.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".kubectl-gc-")
	if err != nil {
		return false
	}
	return errors.Join(f.Close(), os.Remove(f.Name())) == nil
}

// isOurs tells whether a file is what this command makes: a link to a kubectl-gc, or a
// copy of one.
func isOurs(path string) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return false, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		return strings.HasPrefix(filepath.Base(target), "kubectl-gc"), err
	}
	build, err := buildinfo.ReadFile(path)
	if err != nil {
		return false, nil //nolint:nilerr // no Go program, so not ours
	}
	return build.Main.Path == "github.com/kubectl-gc/kubectl-gc", nil
}

// linkTo makes the link, or a copy where links need special rights.
func linkTo(program, link string) error {
	if runtime.GOOS != "windows" {
		target := program
		if filepath.Dir(program) == filepath.Dir(link) {
			target = filepath.Base(program)
		}
		return os.Symlink(target, link)
	}
	from, err := os.Open(program)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenFile(link, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
