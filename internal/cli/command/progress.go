package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/kubectl/pkg/util/term"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// AddProgressFlag adds --progress, which all stages use.
func AddProgressFlag(f *pflag.FlagSet) {
	AddChoice(f, new(string), "progress", "auto", "How to tell on stderr what takes long: auto (one line on a terminal, else nothing), plain or none.",
		"auto", "plain", "none")
}

const (
	// showAfter is how long a stage shows nothing.
	showAfter = time.Second
	// updateEvery is the interval between updates of a line.
	updateEvery = 100 * time.Millisecond

	clearLine = "\r\x1b[K"
)

// display is how progress is shown: by one line that is updated and finally erased, by permanent
// lines, or not at all.
type display uint8

const (
	silent display = iota
	lines
	animated
)

// displayOf returns how a command shows its progress. By default that is on a terminal only, and not
// in CI.
func displayOf(c *cobra.Command, errOut io.Writer) display {
	mode := "auto"
	if f := c.Flag("progress"); f != nil {
		mode = f.Value.String()
	}
	switch {
	case mode == "plain":
		return lines
	case mode == "none" || !printers.IsTerminal(errOut) || os.Getenv("CI") != "" || os.Getenv("TERM") == "dumb":
		return silent
	default:
		return animated
	}
}

// Stage is a part of a command that may be slow. After a second it is shown on stderr.
type Stage struct {
	ctx     context.Context
	errOut  io.Writer
	display display
	width   int
	record  *CurrentStage

	mu    sync.Mutex
	text  string
	shown bool
	done  chan struct{}
	over  sync.WaitGroup
}

// BeginStage starts a stage with a text such as "reading shop.yaml".
func BeginStage(c *cobra.Command, errOut io.Writer, text string) *Stage {
	s := &Stage{ctx: c.Context(), errOut: errOut, display: displayOf(c, errOut), text: text, done: make(chan struct{})}
	if s.record, _ = s.ctx.Value(currentStageKey{}).(*CurrentStage); s.record != nil {
		s.record.set(text)
	}
	s.width = Columns(errOut)
	if s.display != silent {
		s.over.Go(s.show)
	}
	return s
}

// Columns returns the width of a terminal; 0 if out is none.
func Columns(out io.Writer) int {
	if size := (term.TTY{Out: out}).GetSize(); size != nil {
		return int(size.Width)
	}
	return 0
}

// Line returns the width for the text of the stage, and whether the line is updated.
func (s *Stage) Line() (width int, changes bool) {
	return max(0, s.width-1), s.display == animated
}

// Tell changes the text of the stage.
func (s *Stage) Tell(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = text
}

// End ends the stage and erases its line.
func (s *Stage) End() {
	close(s.done)
	s.over.Wait()
	if s.shown && s.display == animated {
		fmt.Fprint(s.errOut, clearLine)
	}
	if s.record != nil && s.ctx.Err() == nil {
		s.record.set("")
	}
}

// show writes the line when the stage has lasted for showAfter: once, or repeatedly if it is animated.
// It returns when the stage or the context ends.
func (s *Stage) show() {
	start := time.Now()
	next := time.NewTimer(showAfter)
	defer next.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-s.ctx.Done():
			return
		case <-next.C:
		}
		s.mu.Lock()
		text := s.text
		s.mu.Unlock()
		s.shown = true
		if s.display == lines {
			fmt.Fprintln(s.errOut, render.Escape(text)+" …")
			return
		}
		text = fmt.Sprintf("%s … %d s", render.Escape(text), int(time.Since(start).Seconds()))
		fmt.Fprint(s.errOut, clearLine+fitted(text, s.width))
		next.Reset(updateEvery)
	}
}

// fitted cuts a text so that the last column stays free: a wrapped line can't be erased.
func fitted(text string, width int) string {
	if r := []rune(text); width > 1 && len(r) >= width {
		return string(r[:width-1])
	}
	return text
}

// Reading returns the text of a stage that reads files.
func Reading(files []string) string {
	if slices.Contains(files[:min(3, len(files))], "-") {
		return "reading standard input"
	}
	return "reading " + report.FirstNames(files, 2)
}

// CurrentStage is what a command is doing, for the message after an interrupt. It is safe for
// concurrent use.
type CurrentStage struct {
	mu   sync.Mutex
	text string
}

type currentStageKey struct{}

// Recorded returns a context that makes stages record what they do.
func Recorded(ctx context.Context) (context.Context, *CurrentStage) {
	u := &CurrentStage{}
	return context.WithValue(ctx, currentStageKey{}, u), u
}

// UnlessInterrupted returns the result of f, or the error of the context if that ends first. f may
// block on a silent pipe; its goroutine is then abandoned and must not write anything.
func UnlessInterrupted[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := f()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Asking records that a confirmation is pending, until answered is called.
func Asking(ctx context.Context) (answered func()) {
	u, ok := ctx.Value(currentStageKey{}).(*CurrentStage)
	if !ok {
		return func() {}
	}
	u.set("waiting for your answer: nothing was written")
	return func() {
		if ctx.Err() == nil {
			u.set("")
		}
	}
}

func (u *CurrentStage) set(text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.text = text
}

// MessageOf returns the message for the error of a command. After an interrupt it names the current
// stage. Commands report themselves what was written by then.
func (u *CurrentStage) MessageOf(code int, err error) string {
	_, own := errors.AsType[*Exit](err)
	if code != Interrupted || own {
		return err.Error()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.text == "" {
		return "interrupted"
	}
	return "interrupted while " + u.text
}
