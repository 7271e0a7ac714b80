package reading

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

var (
	objects = flag.Int("objects", 100_000, "objects of the cluster that BenchmarkLive reads")
	rounds  = flag.Int("rounds", 5, "how often it has each program read it")
	only    = flag.String("only", "", "of the programs, those whose row begins so")
)

// contestant is one program that answers a question about the cluster.
type contestant struct {
	what string
	args []string
	// task is one of this binary, instead of a program.
	task string
	// codes are the exit codes that are answers.
	codes []int
}

// contestants are the commands, each group below what fetching its lists costs, and those
// of others that are installed.
func contestants(b *testing.B) []contestant {
	b.Helper()
	program, err := cluster.Program()
	if err != nil {
		b.Fatal(err)
	}
	one := []string{"deployment/app-000", "-n", cluster.LoadNamespace(0)}
	ours := func(args ...string) contestant {
		return contestant{what: "`" + strings.Join(args, " ") + "`", args: append([]string{program}, args...), codes: []int{0, 3}}
	}
	list := []contestant{
		{what: "lists of metadata, thrown away", task: taskDiscard + metadataAlone},
		{what: "lists of metadata, scanned", task: taskScan + metadataAlone},
		ours("check"),
		ours("graph", "-A", "-o", "json"),
		ours("graph", "-A"),
		{what: "lists with specs, thrown away", task: taskDiscard},
		{what: "lists with specs, scanned", task: taskScan},
		ours("stuck", "-A"),
		ours("risk", "--top", "10"),
		ours(append([]string{"graph"}, one...)...),
		ours(append([]string{"dry-run", "delete"}, one...)...),
	}
	for _, peer := range []contestant{
		{what: "kubectl-check-ownerreferences"},
		{what: "kubectl-tree", args: []string{"deployment", "app-000", "-n", cluster.LoadNamespace(0)}},
		{what: "kube-lineage", args: []string{"deployment", "app-000", "-n", cluster.LoadNamespace(0)}},
	} {
		path, err := exec.LookPath(peer.what)
		if err != nil {
			b.Logf("%s is not installed", peer.what)
			continue
		}
		peer.args, peer.what, peer.codes = append([]string{path}, peer.args...), strings.TrimSpace("`"+peer.what+"` "+strings.Join(peer.args[:min(2, len(peer.args))], " ")), []int{0}
		list = append(list, peer)
	}
	return slices.DeleteFunc(list, func(c contestant) bool { return !strings.HasPrefix(strings.Trim(c.what, "`"), *only) })
}

// spent is what one run has cost.
type spent struct {
	took, worked, server time.Duration
	kilobytes            int64
}

// command is the process that answers, with the cluster of a kubeconfig.
func (c contestant) command(kubeconfig string) *exec.Cmd {
	if c.task != "" {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), taskVariable+"="+c.task+" "+kubeconfig)
		return cmd
	}
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	return cmd
}

// run has it answer once.
func (c contestant) run(b *testing.B, kubeconfig, server string) spent {
	b.Helper()
	cmd := c.command(kubeconfig)
	var said bytes.Buffer
	cmd.Stderr = &said
	before, began := cluster.Worked(server), time.Now()
	err := cmd.Run()
	s := spent{took: time.Since(began), server: cluster.Worked(server) - before}
	if cmd.ProcessState == nil || c.task == "" && !slices.Contains(c.codes, cmd.ProcessState.ExitCode()) || c.task != "" && err != nil {
		b.Fatalf("%s: %v\n%s", c.what, err, said.Bytes())
	}
	s.worked = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.kilobytes = usage.Maxrss
	}
	return s
}

// middle is the median of what runs have cost, each figure by itself.
func middle(runs []spent) spent {
	of := func(figure func(spent) int64) int64 {
		all := make([]int64, len(runs))
		for i, r := range runs {
			all[i] = figure(r)
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	return spent{
		took:      time.Duration(of(func(s spent) int64 { return int64(s.took) })),
		worked:    time.Duration(of(func(s spent) int64 { return int64(s.worked) })),
		server:    time.Duration(of(func(s spent) int64 { return int64(s.server) })),
		kilobytes: of(func(s spent) int64 { return s.kilobytes }),
	}
}

// BenchmarkLive has every program answer by turns, of a cluster in namespaces of 2,000
// objects, and prints a table.
func BenchmarkLive(b *testing.B) {
	list := contestants(b)
	load := &cluster.Load{Cluster: plane}
	if err := load.Fill(*objects); err != nil {
		b.Fatal(err)
	}
	if err := plane.Backup(); err != nil { // the API server starts, and remembers no writes
		b.Fatal(err)
	}
	server := plane.Process("kube-apiserver")
	for _, c := range list { // whatever is kept on the disk is there, and the API server has read all
		c.run(b, plane.Kubeconfig, server)
	}
	for b.Loop() {
		runs := make([][]spent, len(list))
		for range *rounds {
			for i, c := range list {
				runs[i] = append(runs[i], c.run(b, plane.Kubeconfig, server))
			}
		}
		var table strings.Builder
		fmt.Fprintf(&table, "%d objects, median of %d\n| what | time | processor | API server's | memory | requests | received |\n|---|---|---|---|---|---|---|\n", load.Objects, *rounds)
		for i, c := range list {
			m, err := plane.Meter()
			if err != nil {
				b.Fatal(err)
			}
			c.run(b, m.Kubeconfig, server)
			requests, received := m.All()
			m.Close()
			s := middle(runs[i])
			fmt.Fprintf(&table, "| %s | %.2f s | %.2f s | %.2f s | %d MB | %d | %.1f MB |\n",
				c.what, s.took.Seconds(), s.worked.Seconds(), s.server.Seconds(), s.kilobytes>>10, requests, float64(received)/1e6)
		}
		b.Log(table.String())
	}
}
