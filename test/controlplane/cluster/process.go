package cluster

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Process is the process of the control plane that is called so; empty for none.
func (c *Cluster) Process(name string) string {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, line := range lines {
		text, err := os.ReadFile(line)
		if err == nil && bytes.Contains(text, []byte(name+"\x00")) && bytes.Contains(text, []byte(c.Directory)) {
			return filepath.Base(filepath.Dir(line))
		}
	}
	return ""
}

// Resident is what is resident of a process, in kilobytes.
func Resident(process string) int64 {
	text, err := os.ReadFile("/proc/" + process + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	n, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kilobytes, _ := strconv.ParseInt(n, 10, 64)
	return kilobytes
}

// Worked is for how long a process has worked.
func Worked(process string) time.Duration {
	text, err := os.ReadFile("/proc/" + process + "/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ") // behind its name
	var ticks int64
	for _, n := range strings.Fields(rest)[11:13] {
		t, _ := strconv.ParseInt(n, 10, 64)
		ticks += t
	}
	return time.Duration(ticks) * (time.Second / 100)
}
