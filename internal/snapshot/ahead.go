package snapshot

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"io"
	"sync"
)

// blockSize is how much is read ahead at a time, blocksAhead how often.
const (
	blockSize   = 64 << 10
	blocksAhead = 6
)

// ahead reads an input while what it has read before is being looked at: decompressing it takes
// as long as that. It has to be closed.
type ahead struct {
	read chan block
	// free are blocks that nobody looks at any more, all of them fit in.
	free chan []byte
	stop chan struct{}
	// ended is why nothing follows, once next has returned all.
	ended error
}

// block is what was read, and why nothing follows; nil if something may.
type block struct {
	bytes []byte
	err   error
}

func readAhead(from io.Reader) *ahead {
	a := &ahead{read: make(chan block, blocksAhead), free: make(chan []byte, blocksAhead), stop: make(chan struct{})}
	go a.run(from)
	return a
}

func (a *ahead) run(from io.Reader) {
	defer close(a.read)
	for made := 0; ; {
		var room []byte
		select {
		case <-a.stop:
			return
		case room = <-a.free:
		default:
			if made++; made <= blocksAhead {
				room = make([]byte, blockSize)
				break
			}
			select {
			case <-a.stop:
				return
			case room = <-a.free:
			}
		}
		n, err := fill(from, room)
		a.read <- block{room[:n], err}
		if err != nil {
			return
		}
	}
}

// fill reads until b is full or nothing follows.
func fill(from io.Reader, b []byte) (n int, err error) {
	for idle := 0; n < len(b) && err == nil; idle++ {
		var some int
		some, err = from.Read(b[n:])
		if n += some; some > 0 {
			idle = 0
		} else if idle == 100 && err == nil {
			err = io.ErrNoProgress
		}
	}
	return n, err
}

// next is what follows, never nothing, or why nothing does.
func (a *ahead) next() ([]byte, error) {
	if a.ended != nil {
		return nil, a.ended
	}
	b := <-a.read
	if a.ended = b.err; len(b.bytes) == 0 {
		return nil, a.ended
	}
	return b.bytes, nil
}

// release gives a block back that next has returned.
func (a *ahead) release(b []byte) { a.free <- b[:cap(b)] }

// close returns once nobody reads any more.
func (a *ahead) close() {
	close(a.stop)
	for range a.read { // until nobody reads
	}
}

// sum hashes what is looked at, beside that. It has to be closed.
type sum struct {
	hash hash.Hash
	todo chan piece
	// left are the pieces that are not hashed yet.
	left sync.WaitGroup
	done chan struct{}
}

// piece is what is to be hashed, of a block that is free then; nil for none.
type piece struct{ bytes, block []byte }

func newSum(a *ahead) *sum {
	s := &sum{hash: sha256.New(), todo: make(chan piece, blocksAhead), done: make(chan struct{})}
	go s.run(a)
	return s
}

func (s *sum) run(a *ahead) {
	defer close(s.done)
	for p := range s.todo {
		s.hash.Write(p.bytes)
		if p.block != nil {
			a.release(p.block)
		}
		s.left.Done()
	}
}

// add hashes what nobody changes, and releases the block then that it is of.
func (s *sum) add(b, block []byte) {
	if len(b) > 0 || block != nil {
		s.left.Add(1)
		s.todo <- piece{b, block}
	}
}

// addCopy hashes what may change afterwards.
func (s *sum) addCopy(b []byte) {
	if len(b) <= blockSize {
		s.add(bytes.Clone(b), nil)
		return
	}
	s.add(b, nil)
	s.left.Wait()
}

// value is the hash of all that was added.
func (s *sum) value() []byte {
	s.left.Wait()
	return s.hash.Sum(nil)
}

// close returns once nothing goes on any more.
func (s *sum) close() {
	close(s.todo)
	<-s.done
}
