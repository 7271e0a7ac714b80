package command

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// dumpLimits are the flags that limit the resources for reading a dump.
type dumpLimits struct{ memory, input Size }

func (l *dumpLimits) addFlags(f *pflag.FlagSet) {
	f.Var(&l.memory, "max-memory",
		"Memory that reading a dump or a backup may take, in addition to 1 KB for each object (default 300M). It raises the limits for single values in proportion.")
	f.Var(&l.input, "max-input",
		"How large a dump may become when it is decompressed (default 8Gi, and 400 times the file).")
	Unlist(f, "max-memory", "max-input")
}

// limits returns the limits of the flags. --max-input lifts the limit of the compression ratio.
func (l *dumpLimits) limits() snapshot.Limits {
	limits := snapshot.Limits{MemoryBytes: int64(l.memory), TotalBytes: int64(l.input), EntryBytes: int64(l.input)}
	if l.input > 0 {
		limits.Ratio = math.MaxInt64
	}
	return limits
}

// LiftLimit adds to an error of a limit how to raise the limit.
func LiftLimit(err error) error {
	switch {
	case errors.Is(err, snapshot.ErrSize):
		return fmt.Errorf("%w; --max-input=SIZE allows more", err)
	case errors.Is(err, snapshot.ErrLimit) && !errors.Is(err, snapshot.ErrFiles):
		return fmt.Errorf("%w; --max-memory=SIZE allows more", err)
	default:
		return err
	}
}

// Memory limits the memory of the process while a dump is read. It sets the memory limit of the Go
// runtime, so that garbage is collected in time, and ends reading if too much is in use.
type Memory struct {
	sample []metrics.Sample
	// usual is the former memory limit of the runtime, now the one set last.
	usual, now int64
	// before is the memory in use before reading, which does not count.
	before int64
}

// NewMemory records the current memory limit and use.
func NewMemory() *Memory {
	m := &Memory{
		sample: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}},
		usual:  debug.SetMemoryLimit(-1),
	}
	m.before = m.inUse()
	return m
}

// The shares of the user's limit, and of the addition for objects, that RoomFor uses:
//
//	heap in use before reading ends = inUsePart × limit + objectsPart × addition
//	memory limit of the runtime     = runtimePart × limit + addition
//
// The distance between the two is room for garbage: the runtime collects aggressively there. The
// rest is for up to 50 MB of the program's own pages, which the runtime does not count.
const (
	inUsePart   = 0.46
	objectsPart = 0.6
	runtimePart = 0.82
)

// Room is an error if that many more bytes are too much.
func (m *Memory) Room(bytes int64, objects int, limits snapshot.Limits) error {
	return m.RoomFor(bytes, objects, snapshot.ObjectMemory, limits.MemoryBytes)
}

// RoomFor is an error if that many more bytes exceed the limit plus each bytes per object. It raises
// the memory limit of the runtime as objects are added.
func (m *Memory) RoomFor(bytes int64, objects, each int, limit int64) error {
	more := float64(objects) * float64(each)
	most, inUse := more+float64(limit), int64(objectsPart*more+inUsePart*float64(limit))
	if soft := min(m.usual, m.before+int64(most-(1-runtimePart)*float64(limit))); soft != m.now && (m.now == 0 || soft > m.now+m.now/16) {
		debug.SetMemoryLimit(soft)
		m.now = soft
	}
	if m.inUse()-m.before+bytes <= inUse {
		return nil
	}
	runtime.GC()
	if m.inUse()-m.before+bytes <= inUse {
		return nil
	}
	return fmt.Errorf("%w: reading on takes more than %s and %d bytes for each of %d objects, the limit for memory",
		snapshot.ErrLimit, resource.NewQuantity(limit, resource.DecimalSI), each, objects)
}

// inUse returns the bytes of the heap in use, including garbage that is not collected yet.
func (m *Memory) inUse() int64 {
	metrics.Read(m.sample)
	return int64(m.sample[0].Value.Uint64())
}

// End restores the memory limit of the runtime.
func (m *Memory) End() {
	if m.now != 0 {
		debug.SetMemoryLimit(m.usual)
	}
}
