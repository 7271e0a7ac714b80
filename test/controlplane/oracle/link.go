package oracle

import (
	"io"
	"net"
	"net/url"
	"sync"
)

// link is the program's way to the API server, where a story has it fail.
type link struct {
	to     string
	listen net.Listener

	mu    sync.Mutex
	down  bool
	conns map[net.Conn]bool
}

// connect opens a way to the server at an address.
func connect(server string) (*link, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &link{to: u.Host, listen: listen, conns: map[net.Conn]bool{}}
	go func() {
		for {
			c, err := listen.Accept()
			if err != nil {
				return // it was closed
			}
			go l.carry(c)
		}
	}()
	return l, nil
}

func (l *link) url() string { return "https://" + l.listen.Addr().String() }

// carry passes on what both sides say, until one of them ends or the way does.
func (l *link) carry(here net.Conn) {
	defer func() { _ = here.Close() }()
	there, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	defer func() { _ = there.Close() }()
	if !l.hold(here, there) {
		return
	}
	go func() {
		_, _ = io.Copy(there, here)
		_ = there.Close()
	}()
	_, _ = io.Copy(here, there)
	l.mu.Lock()
	delete(l.conns, here)
	delete(l.conns, there)
	l.mu.Unlock()
}

// hold notes a connection, and reports whether there is one to be had.
func (l *link) hold(both ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range both {
		l.conns[c] = true
	}
	return !l.down
}

// cut ends every connection, in the middle of whatever is being said; for good, there are
// no others until it is mended.
func (l *link) cut(forGood bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = forGood
	for c := range l.conns {
		_ = c.Close()
	}
	clear(l.conns)
}

func (l *link) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = false
}

func (l *link) close() { _ = l.listen.Close(); l.cut(true) }
