package snapshot

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// asUTF8 converts UTF-16 with a byte order mark, as PowerShell writes redirected output, to UTF-8.
// It returns every other text unchanged.
func asUTF8(content *bufio.Reader) *bufio.Reader {
	mark, _ := content.Peek(4)
	switch {
	case bytes.HasPrefix(mark, []byte{0xff, 0xfe, 0, 0}): // UTF-32
		return content
	case bytes.HasPrefix(mark, []byte{0xff, 0xfe}):
		return bufio.NewReaderSize(&wideText{r: content, low: 0, high: 1, line: 1}, 64<<10)
	case bytes.HasPrefix(mark, []byte{0xfe, 0xff}):
		return bufio.NewReaderSize(&wideText{r: content, low: 1, high: 0, line: 1}, 64<<10)
	}
	return content
}

// wideText decodes UTF-16. Half a character is an error because it is unknown.
type wideText struct {
	r *bufio.Reader
	// low and high are the indexes of the low and the high byte.
	low, high int
	line      int
	// text is decoded but was not returned yet.
	text []byte
	err  error
}

func (w *wideText) Read(p []byte) (int, error) {
	for len(w.text) < 4<<10 && w.err == nil {
		c, err := w.character()
		if err != nil {
			w.err = err
			break
		}
		if c == '\n' {
			w.line++
		}
		w.text = utf8.AppendRune(w.text, c)
	}
	if len(w.text) == 0 {
		return 0, w.err
	}
	n := copy(p, w.text)
	w.text = w.text[:copy(w.text, w.text[n:])]
	return n, nil
}

func (w *wideText) character() (rune, error) {
	first, err := w.unit()
	if err != nil || !utf16.IsSurrogate(first) {
		return first, err
	}
	second, err := w.unit()
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	c := utf16.DecodeRune(first, second)
	if c == utf8.RuneError {
		return 0, fmt.Errorf("line %d: not valid UTF-16: half a character", w.line)
	}
	return c, nil
}

func (w *wideText) unit() (rune, error) {
	var b [2]byte
	n, err := io.ReadFull(w.r, b[:])
	if n == 1 && errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, fmt.Errorf("line %d: not valid UTF-16: it ends with half a character", w.line)
	}
	return rune(b[w.low]) | rune(b[w.high])<<8, err
}
