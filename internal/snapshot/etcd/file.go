package etcd

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/codec"
)

// File is an open etcd database that was checked.
type File struct {
	db codec.Database
	// Oldest and Newest are the first and the last revision that the file can reconstruct.
	Oldest, Newest int64
}

// blockSize divides the size of a database. Additional bytes are the checksum at the end of a
// snapshot.
//
// As in hasChecksum of go.etcd.io/etcd/etcdutl/v3/snapshot.
const blockSize = 512

// lockPatience is the timeout for the file lock of another process.
const lockPatience = time.Second

// Open checks and opens a file.
func Open(path string) (*File, error) {
	if err := check(path); err != nil {
		return nil, err
	}
	f := &File{}
	err := contained(func() (err error) {
		f.db, err = codec.OpenDatabase(path, lockPatience)
		if err != nil {
			return err
		}
		return f.revisions()
	})
	if errors.Is(err, codec.ErrLocked) {
		err = errors.New("etcd has it open: take a snapshot with etcdctl snapshot save, or stop the member first")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close closes the file.
func (f *File) Close() {
	if f.db != nil {
		_ = f.db.Close()
	}
}

// check checks the checksum of a file, if it has one, and its pages.
func check(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	stat, err := file.Stat()
	if err != nil {
		return err
	}
	size := stat.Size()
	switch size % blockSize {
	case 0:
	case sha256.Size:
		size -= sha256.Size
		if err := checkSum(file, size); err != nil {
			return err
		}
	default:
		return damaged("%d bytes are no whole number of blocks: it was not written to its end", size)
	}
	return checkPages(file, size)
}

// checkSum checks the checksum that follows the first size bytes.
func checkSum(file io.ReaderAt, size int64) error {
	sum := sha256.New()
	if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, io.NewSectionReader(file, 0, size), make([]byte, 1<<20)); err != nil {
		return err
	}
	recorded := make([]byte, sha256.Size)
	if _, err := file.ReadAt(recorded, size); err != nil {
		return err
	}
	if !bytes.Equal(recorded, sum.Sum(nil)) {
		return damaged("its last %d bytes are not the checksum of those before", sha256.Size)
	}
	return nil
}

// contained calls a function that reads the memory-mapped database. A file that is changed
// meanwhile must not crash the process. This is the only place that recovers a panic.
func contained(read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w, or it was changed while it was read: %v", errDamaged, p)
		}
	}()
	return read()
}

// The layout of a bbolt database: two headers, and trees of pages. A page has a header and an array
// of elements. Each element has the offset of its key and value, relative to itself. A large page
// continues in the following pages.
//
// As in page.go, meta.go and bucket.go of go.etcd.io/bbolt/internal/common.
const (
	headerSize  = 16 // of a page: id, flags, count, overflow
	elementSize = 16
	bucketSize  = 16 // root page, sequence
	metaSize    = 64
	version     = 2

	branchPage = 0x01
	leafPage   = 0x02
	metaPage   = 0x04
	bucketLeaf = 0x01 // of an element: the value is a bucket
)

// Limits far above what etcd writes: it refuses requests of more than a few megabytes, and its
// trees have less than ten levels.
const (
	mostLevels      = 64
	mostLeafBytes   = 64 << 20
	mostBranchBytes = 1 << 20
)

// errDamaged is in the chain of every error about an invalid file.
var errDamaged = errors.New("the file is damaged")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errDamaged, fmt.Sprintf(format, args...))
}

// pages checks the pages of a database.
type pages struct {
	file io.ReaderAt
	size int64 // of the pages and headers together
	page int64 // of one
	// limit is the number of the first page after all used ones.
	limit uint64
	// used has a bit for each page that is in a tree.
	used []uint64
	// free are unused page buffers.
	free [][]byte
}

// header is one of the two headers. The one with the higher transaction is valid.
type header struct {
	page        int64
	root, limit uint64
	transaction uint64
}

// checkPages checks all trees of a database of size bytes.
func checkPages(file io.ReaderAt, size int64) error {
	first, err := readHeader(file, 0)
	if err != nil {
		return err
	}
	second, err := readHeader(file, first.page)
	if err != nil {
		return err
	}
	if second.page != first.page {
		return damaged("its headers name pages of %d and of %d bytes", first.page, second.page)
	}
	if second.transaction > first.transaction {
		first = second
	}
	p := &pages{file: file, size: size, page: first.page, limit: first.limit}
	if whole := uint64(size / p.page); p.limit > whole {
		return damaged("it ends after page %d of %d", whole, p.limit)
	}
	p.used = make([]uint64, p.limit/64+1)
	return p.tree(first.root, 0, 0)
}

// readHeader reads the header at an offset.
func readHeader(file io.ReaderAt, at int64) (header, error) {
	b := make([]byte, headerSize+metaSize)
	if _, err := file.ReadAt(b, at); err != nil {
		return header{}, damaged("it ends within its headers")
	}
	m := b[headerSize:]
	sum := fnv.New64a()
	_, _ = sum.Write(m[:metaSize-8])
	h := header{
		page: int64(order.Uint32(m[8:])), root: order.Uint64(m[16:]),
		limit: order.Uint64(m[40:]), transaction: order.Uint64(m[48:]),
	}
	switch {
	case !Magic(b), order.Uint16(b[8:]) != metaPage:
		return h, damaged("it has no header at byte %d", at)
	case order.Uint64(m[metaSize-8:]) != sum.Sum64():
		return h, damaged("the checksum of the header at byte %d is wrong", at)
	case order.Uint32(m[4:]) != version:
		return h, fmt.Errorf("it is a database of bbolt in version %d, and not %d", order.Uint32(m[4:]), version)
	case h.page < 1<<9 || h.page > 1<<20 || h.page&(h.page-1) != 0:
		return h, damaged("its pages have %d bytes", h.page)
	case h.limit < 2 || h.limit > 1<<40 || h.transaction == 0 && h.root == 0:
		return h, damaged("the header at byte %d has no pages", at)
	}
	return h, nil
}

// order is the byte order of this machine: bbolt writes its memory as it is.
var order = binary.NativeEndian

// tree checks a subtree of pages, level levels below its root. depth is 0 for the outermost tree,
// the only one with buckets.
func (p *pages) tree(id uint64, depth, level int) error {
	if level > mostLevels {
		return damaged("page %d is more than %d levels deep", id, mostLevels)
	}
	b, err := p.load(id)
	if err != nil {
		return err
	}
	defer func() { p.free = append(p.free, b) }()
	return p.elements(b, fmt.Sprintf("page %d", id), depth, level)
}

// load reads a page with its continuation and checks its header.
func (p *pages) load(id uint64) ([]byte, error) {
	if id < 2 || id >= p.limit {
		return nil, damaged("page %d is referred to, and there are %d", id, p.limit)
	}
	var start [headerSize]byte
	if _, err := p.file.ReadAt(start[:], int64(id)*p.page); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	more := uint64(order.Uint32(start[12:]))
	if own := order.Uint64(start[:]); own != id {
		return nil, damaged("page %d says that it is page %d", id, own)
	}
	if more >= p.limit-id {
		return nil, damaged("page %d extends past the last page", id)
	}
	for i := id; i <= id+more; i++ {
		if p.used[i/64]&(1<<(i%64)) != 0 {
			return nil, damaged("page %d is in use twice", i)
		}
		p.used[i/64] |= 1 << (i % 64)
	}
	size, most := int64(more+1)*p.page, int64(mostLeafBytes)
	if order.Uint16(start[8:]) == branchPage {
		most = mostBranchBytes
	}
	if size > most {
		return nil, damaged("page %d has %d bytes", id, size)
	}
	var b []byte
	if n := len(p.free); n > 0 && int64(cap(p.free[n-1])) >= size {
		b, p.free = p.free[n-1][:size], p.free[:n-1]
	} else {
		b = make([]byte, size)
	}
	if _, err := p.file.ReadAt(b, int64(id)*p.page); err != nil {
		return nil, fmt.Errorf("page %d: %w", id, err)
	}
	return b, nil
}

// elements checks the elements of the page in b.
func (p *pages) elements(b []byte, name string, depth, level int) error {
	flags, count := order.Uint16(b[8:]), int(order.Uint16(b[10:]))
	if headerSize+count*elementSize > len(b) {
		return damaged("%s says that it has %d elements", name, count)
	}
	switch {
	case flags == branchPage && count > 0:
	case flags == leafPage:
	default:
		return damaged("%s is of kind %#x with %d elements", name, flags, count)
	}
	for i := range count {
		at := headerSize + i*elementSize
		e := b[at : at+elementSize]
		if flags == branchPage {
			if !within(b, at, order.Uint32(e), order.Uint32(e[4:]), 0) {
				return damaged("%s: element %d lies outside the page", name, i)
			}
			if err := p.tree(order.Uint64(e[8:]), depth, level+1); err != nil {
				return err
			}
			continue
		}
		position, key, value := order.Uint32(e[4:]), order.Uint32(e[8:]), order.Uint32(e[12:])
		if !within(b, at, position, key, value) {
			return damaged("%s: element %d lies outside the page", name, i)
		}
		from := at + int(position) + int(key)
		if order.Uint32(e)&bucketLeaf != 0 {
			if err := p.bucket(b[from:from+int(value)], fmt.Sprintf("%s: element %d", name, i), depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// within reports whether key and value of the element at an offset are inside the page.
func within(b []byte, at int, position, key, value uint32) bool {
	return int64(at)+int64(position)+int64(key)+int64(value) <= int64(len(b))
}

// bucket checks a bucket: the tree that it refers to, or its inline page.
func (p *pages) bucket(value []byte, name string, depth int) error {
	switch {
	case depth > 0:
		return damaged("%s is a bucket in a bucket", name)
	case len(value) < bucketSize:
		return damaged("%s is no bucket", name)
	}
	if root := order.Uint64(value); root != 0 {
		return p.tree(root, depth+1, 0)
	}
	if len(value) < bucketSize+headerSize || order.Uint16(value[bucketSize+8:]) != leafPage {
		return damaged("%s is no bucket", name)
	}
	return p.elements(value[bucketSize:], name, depth+1, 0)
}
