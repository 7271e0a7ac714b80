package main

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// reserve chooses a free port and keeps everybody else from it until the plane is
// down: a socket is bound to it, which never listens, and who permits that the port is
// shared may listen there. A port that was only looked for could be somebody else's by
// the time it is used, or used again.
func (p *plane) reserve() (int, error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("a port: %w", err)
	}
	p.reserved = append(p.reserved, socket)
	if err := errors.Join(
		unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1),
		unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
	); err != nil {
		return 0, fmt.Errorf("a port: %w", err)
	}
	at, err := unix.Getsockname(socket)
	if err != nil {
		return 0, fmt.Errorf("a port: %w", err)
	}
	return at.(*unix.SockaddrInet4).Port, nil
}
