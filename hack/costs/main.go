// Command costs measures what each command of the program costs on clusters of all shapes
// and sizes, as whole processes, and writes a page of tables.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/shapes"
)

func main() {
	m := measurement{}
	var sizes, names, only, write string
	flag.StringVar(&m.program, "program", "bin/kubectl-gc", "what is measured")
	flag.StringVar(&sizes, "sizes", "10000,100000", "numbers of objects, the smallest first")
	flag.StringVar(&names, "shapes", "", "some of the shapes; all without")
	flag.StringVar(&only, "only", "", "only commands that contain this")
	flag.IntVar(&m.runs, "runs", 1, "how often each command runs; the cheapest run counts")
	flag.DurationVar(&m.timeout, "timeout", time.Minute, "the processor time, in whole seconds, after which a command is given up")
	flag.StringVar(&write, "write", "", "write the cluster of the shape and size to this file, and say what is asked of it")
	flag.Parse()
	var err error
	if write != "" {
		err = writeCluster(write, names, sizes)
	} else {
		err = m.all(sizes, names, only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "costs:", err)
		os.Exit(1)
	}
}

// cluster is what there is to know of a cluster that was written to a file.
type cluster struct {
	Objects  int
	Commands [][]string
}

// writeCluster does so in a process of its own: the peak of a process that is started
// counts that of the one which starts it.
func writeCluster(file, name, size string) error {
	n, err := strconv.Atoi(size)
	if err != nil {
		return err
	}
	shape, err := shapes.Named(name)
	if err != nil {
		return err
	}
	c := shape.Cluster(n, 1)
	if err := c.Save(file); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(cluster{len(c.Objects), c.Commands()})
}

// written has another process write a cluster.
func written(file, shape string, size int) (cluster, error) {
	var c cluster
	self, err := os.Executable()
	if err != nil {
		return c, err
	}
	write := exec.Command(self, "-write", file, "-shapes", shape, "-sizes", strconv.Itoa(size))
	write.Stderr = os.Stderr
	out, err := write.Output()
	if err != nil {
		return c, err
	}
	err = json.Unmarshal(out, &c)
	return c, err
}

type measurement struct {
	program string
	runs    int
	timeout time.Duration
}

// all measures all shapes and sizes and writes a table for each shape.
func (m *measurement) all(sizes, names, only string) error {
	var counts []int
	for size := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil {
			return err
		}
		counts = append(counts, n)
	}
	dir, err := os.MkdirTemp("", "costs")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, shape := range shapes.All() {
		if names != "" && !slices.Contains(strings.Split(names, ","), shape.Name) {
			continue
		}
		t := newTable(shape, counts)
		for i, n := range counts {
			file := filepath.Join(dir, "cluster.zst")
			c, err := written(file, shape.Name, n)
			if err != nil {
				return fmt.Errorf("%s: %w", shape.Name, err)
			}
			t.objects[i] = c.Objects
			for at, command := range c.Commands {
				if !strings.Contains(strings.Join(command, " "), only) {
					continue
				}
				if cell := t.row(at, command); i == 0 || !cell[i-1].over {
					cell[i] = m.cheapest(command, file)
					fmt.Fprintf(os.Stderr, "%s %d %s: %s\n", shape.Name, n, strings.Join(command, " "), cell[i])
				}
			}
		}
		t.write(os.Stdout, m.timeout)
	}
	return nil
}

// cheapest is the cheapest of the runs.
func (m *measurement) cheapest(command []string, file string) cost {
	best := m.run(command, file)
	for range m.runs - 1 {
		if best.over || best.failed != "" {
			break
		}
		if c := m.run(command, file); c.processor < best.processor {
			best = c
		}
	}
	return best
}

// run runs a command. The kernel ends it when it has had its processor time, so that a busy
// machine gives up no more commands than an idle one.
func (m *measurement) run(command []string, file string) cost {
	args := slices.Clone(command)
	if args[0] == "__complete" { // what is completed comes last
		args = slices.Insert(args, len(args)-1, "--from", file)
	} else {
		args = append(args, "--from", file)
	}
	limit := strconv.Itoa(int(m.timeout.Seconds()))
	c := exec.Command("sh", slices.Concat([]string{"-c", `ulimit -t "$0" && exec "$@"`, limit, m.program}, args)...)
	var printed counter
	var complaint strings.Builder
	c.Stdout, c.Stderr = &printed, &complaint
	start := time.Now()
	err := c.Run()
	if c.ProcessState == nil {
		return cost{ran: true, failed: err.Error()}
	}
	took := cost{
		ran: true, wall: time.Since(start), processor: c.ProcessState.UserTime() + c.ProcessState.SystemTime(),
		peak: peak(c.ProcessState), printed: int64(printed),
	}
	// What has had little of its time was ended by somebody else.
	took.over = !c.ProcessState.Exited() && took.processor > m.timeout/2
	if code := c.ProcessState.ExitCode(); err != nil && !took.over && (code <= 2 || code > 6) { // the others are answers
		took.failed = fmt.Sprintf("%v: %s", err, complaint.String())
	}
	return took
}

// counter counts what is written to it.
type counter int64

// Write takes everything.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
