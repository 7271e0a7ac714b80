package main

import (
	"os"
	"syscall"
)

// peak is the most memory, in bytes, that a process that has ended had at a time.
func peak(s *os.ProcessState) int64 {
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss * 1024
}
