package source

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/usage"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// dumpLimits are the flags that say how much reading a dump may cost.
type dumpLimits struct{ memory, input usage.Size }

func (l *dumpLimits) addFlags(f *pflag.FlagSet) {
	f.Var(&l.memory, "max-memory",
		"Memory that reading a dump or a backup may take, in addition to 1 KB for each object (default 300M). It raises the limits for single values in proportion.")
	f.Var(&l.input, "max-input",
		"How large a dump may become when it is decompressed (default 8Gi, and 400 times the file).")
	usage.Unlist(f, "max-memory", "max-input")
}

// limits are those of the flags. Who says how large an input may become expects it to grow.
func (l *dumpLimits) limits() snapshot.Limits {
	limits := snapshot.Limits{MemoryBytes: int64(l.memory), TotalBytes: int64(l.input), EntryBytes: int64(l.input)}
	if l.input > 0 {
		limits.Ratio = math.MaxInt64
	}
	return limits
}

// LiftLimit says behind an error of a limit how to lift it.
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

// Memory keeps the memory of the process within what reading a dump may take. While it
// reads, garbage is collected early enough; where what is in use is too much, reading ends.
type Memory struct {
	sample []metrics.Sample
	// usual is the memory limit of the runtime before, now the one that was set last.
	usual, now int64
	// before is what was in use before anything was read: it is not the dump's.
	before int64
}

// NewMemory notes what the runtime did before.
func NewMemory() *Memory {
	m := &Memory{
		sample: []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}},
		usual:  debug.SetMemoryLimit(-1),
	}
	m.before = m.inUse()
	return m
}

// Parts of the limit, and of what is added to it for each object. The program itself has up to
// 50 MB of pages in memory that the runtime does not count. Between what may be in use and where
// the runtime works hard to stay there is room for garbage.
const (
	inUsePart   = 0.46
	objectsPart = 0.6
	runtimePart = 0.82
)

// Room is an error if so many bytes more are too much.
func (m *Memory) Room(bytes int64, objects int, limits snapshot.Limits) error {
	return m.RoomFor(bytes, objects, snapshot.ObjectMemory, limits.MemoryBytes)
}

// RoomFor is an error if so many bytes more are too much for a limit and so much for each object.
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

// inUse are the bytes of the heap that are in use, and those that were and have not been
// collected yet.
func (m *Memory) inUse() int64 {
	metrics.Read(m.sample)
	return int64(m.sample[0].Value.Uint64())
}

// End lets the runtime do as it did before.
func (m *Memory) End() {
	if m.now != 0 {
		debug.SetMemoryLimit(m.usual)
	}
}
