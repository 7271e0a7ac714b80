package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// latest is the argument for the newest backup of the cluster.
const latest = "latest"

// listThem returns the end of errors about a missing backup.
func listThem(c *cobra.Command) string {
	return "The backups there are: " + command.Connection(c).Command("kubectl gc undo --list")
}

// bundle returns the directory of the backup that an argument names: a path, a name in the backup
// directory, or the newest backup of this cluster.
func (u *undoing) bundle(c *cobra.Command, arg string, id kube.Identity) (string, error) {
	isPath := strings.ContainsRune(arg, filepath.Separator)
	if _, err := os.Stat(arg); isPath || arg != latest && err == nil {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("no backup at %s\n%s", arg, listThem(c))
		case err == nil && !backup.Is(arg):
			return "", fmt.Errorf("%s is not a backup\n%s", arg, listThem(c))
		}
		return arg, nil
	}
	dir, err := u.backups.Path()
	if err != nil {
		return "", err
	}
	if arg != latest {
		path := filepath.Join(dir, arg)
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path, err
		}
	}
	list, err := backup.List(dir)
	if err != nil {
		return "", err
	}
	names := []string{latest}
	for i := range list {
		names = append(names, list[i].Name)
		switch l := &list[i]; {
		case arg != latest, errors.Is(l.Unreadable, backup.ErrUnsealed): // nothing was written with that one
		case l.Unreadable != nil:
			return "", fmt.Errorf("backup %s cannot be read, so the latest one is unknown: %w; name a backup instead of latest", l.Name, l.Unreadable)
		case l.Head.Cluster.UID == "" || id.ClusterUID == "":
			if l.Head.Cluster.Server == id.Server {
				return l.Path, nil
			}
		case l.Head.Cluster.UID == id.ClusterUID:
			return l.Path, nil
		}
	}
	if arg == latest {
		return "", fmt.Errorf("no backup of this cluster in %s\n%s", dir, listThem(c))
	}
	return "", fmt.Errorf("no backup %q in %s%s\n%s", arg, dir, command.DidYouMean(command.Nearest(arg, names)), listThem(c))
}

// showList prints the existing backups. It needs no cluster.
func (u *undoing) showList(c *cobra.Command) error {
	dir, err := u.backups.Path()
	if err != nil {
		return err
	}
	found, err := backup.List(dir)
	if err != nil {
		return err
	}
	if len(found) == 0 && u.output.ForPeople() {
		fmt.Fprintln(u.streams.ErrOut, "There are no backups in "+render.Escape(dir)+".")
		return nil
	}
	list := &report.Backups{Header: report.HeaderOf("Backups"), Directory: dir, Backups: make([]report.Backup, len(found))}
	for i := range found {
		list.Backups[i] = backupOf(&found[i])
	}
	return u.output.Show(c, u.streams.Out, list, command.As(render.BackupsText, list))
}

// backupOf converts a backup to its report.
func backupOf(b *backup.Listed) report.Backup {
	if b.Unreadable != nil {
		return report.Backup{Name: b.Name, Unreadable: b.Unreadable.Error()}
	}
	r := report.Backup{
		Name: b.Name, Created: b.Head.Created.UTC().Format(time.RFC3339), Command: b.Head.Command, Objects: b.Objects,
		Server: b.Head.Cluster.Server, ClusterUID: string(b.Head.Cluster.UID), Partly: b.Partly,
	}
	if b.Main.Name != "" {
		main := b.Main
		r.Main = &main
	}
	if !b.Undone.IsZero() {
		r.Undone = b.Undone.UTC().Format(time.RFC3339)
	}
	return r
}

// removeBackup deletes a named backup after a confirmation, since its objects can't be restored
// afterwards. It needs no cluster.
func (u *undoing) removeBackup(c *cobra.Command, name string) error {
	if name == latest {
		return command.Errorf(c, "--remove wants the name of a backup, and not %s: another one may be that by now", latest)
	}
	path, err := u.bundle(c, name, kube.Identity{})
	if err != nil {
		return err
	}
	if !backup.Is(path) {
		return fmt.Errorf("%s is not a backup", path)
	}
	digest, err := backup.Digest(path)
	if err != nil {
		return err
	}
	listed := backup.Describe(path)
	q := report.Confirmation{Verb: "remove backup", Backup: listed.Name, Notes: []string{heldBy(&listed)}, Digest: digest}
	if u.confirm.IsDryRun() {
		fmt.Fprintln(u.streams.ErrOut, render.Escape(q.Notes[0]))
	}
	if err := u.confirm.Ask(c, []string{name}, u.streams, q); err != nil {
		return err
	}
	if err := backup.Remove(path); err != nil {
		return err
	}
	fmt.Fprintln(u.streams.ErrOut, "Removed backup "+render.Escape(path)+".")
	return nil
}

// heldBy describes what is lost with a backup.
func heldBy(b *backup.Listed) string {
	switch {
	case errors.Is(b.Unreadable, backup.ErrUnsealed):
		return "It was never finished, and nothing was deleted on the strength of it."
	case b.Unreadable != nil:
		return "It cannot be read: " + b.Unreadable.Error()
	case b.Undone.IsZero():
		return fmt.Sprintf("It holds %d objects of a %s and was never undone: without it they cannot be brought back.", b.Objects, b.Head.Command)
	case b.Partly:
		return fmt.Sprintf("It holds %d objects of a %s, and its undo is not complete: without it the rest cannot be brought back.", b.Objects, b.Head.Command)
	default:
		return fmt.Sprintf("It holds %d objects of a %s and was undone.", b.Objects, b.Head.Command)
	}
}
