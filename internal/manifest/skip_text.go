package manifest

import "bytes"

// The lines that `kubectl cluster-info dump` writes around the log of a container.
//
// Upstream: kubectl/pkg/cmd/clusterinfo/clusterinfo_dump.go ClusterInfoDumpOptions.Run.
var (
	logStart = []byte("==== START logs for container ")
	logEnd   = []byte("==== END logs for container ")
)

// skipText skips lines of text and whole logs, up to a line that starts like JSON.
func (rd *reading) skipText(l *lexer) error {
	for {
		for l.end-l.pos < len(logStart) && l.fill() {
		}
		switch line := l.buf[l.pos:l.end]; {
		case len(line) == 0:
			return nil
		case line[0] == '{' || line[0] == '[':
			return nil
		case bytes.HasPrefix(line, logStart):
			if err := rd.skipLog(l); err != nil {
				return err
			}
		default:
			l.skipLine()
		}
	}
}

// skipLog skips the log at the current position. Its end marker may follow a last line without a
// newline.
func (rd *reading) skipLog(l *lexer) error {
	line := l.here()
	l.mark = l.pos
	l.skipLine()
	if l.failed != nil {
		return l.unexpected("the end of a line")
	}
	end := append([]byte(nil), logEnd...)
	end = append(end, bytes.TrimRight(l.buf[l.mark+len(logStart):l.pos], "\r\n")...)
	l.mark = -1
	for {
		if i := bytes.Index(l.buf[l.pos:l.end], end); i >= 0 {
			l.pos += i
			l.skipLine()
			return nil
		}
		l.pos = max(l.pos, l.end-len(end)+1)
		if !l.fill() {
			break
		}
	}
	if l.failed != nil {
		l.pos = l.end
		return l.unexpected("the end of a log")
	}
	return rd.problem(line, "the input ends in the middle of a log", ErrTruncated)
}

// skipLine skips the rest of a line.
func (l *lexer) skipLine() {
	for {
		if i := bytes.IndexByte(l.buf[l.pos:l.end], '\n'); i >= 0 {
			l.pos += i + 1
			return
		}
		l.pos = l.end
		if !l.fill() {
			return
		}
	}
}
