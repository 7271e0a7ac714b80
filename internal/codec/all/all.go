// Package all links all codecs. Import it for this effect in a program, and in tests that read
// compressed files or databases.
package all

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz/lzma"
	"go.etcd.io/bbolt"

	"github.com/kubectl-gc/kubectl-gc/internal/codec"
)

// zstdWindow is the window of a compressor that is not sequential.
const zstdWindow = 1 << 20

func init() {
	codec.Link(codec.Gzip, codec.Codec{
		Reader: func(r io.Reader, _ int) (io.ReadCloser, error) { return gzip.NewReader(r) },
		Writer: func(w io.Writer, _ bool) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
	})
	codec.Link(codec.Zstd, codec.Codec{Reader: readZstd, Writer: writeZstd})
	codec.Link(codec.LZ4, codec.Codec{Reader: readLZ4})
	codec.Link(codec.LZMA2, codec.Codec{Reader: readLZMA2})
	codec.LinkDatabase(openDatabase)
}

func readZstd(r io.Reader, window int) (io.ReadCloser, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(uint64(window)), zstd.WithDecoderMaxMemory(uint64(window)))
	if err != nil {
		return nil, err
	}
	return zstdReader{z}, nil
}

// zstdReader marks the error of a window that is too large.
type zstdReader struct{ *zstd.Decoder }

func (z zstdReader) Read(p []byte) (int, error) {
	n, err := z.Decoder.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = fmt.Errorf("%w: %w", codec.ErrWindow, err)
	}
	return n, err
}

func (z zstdReader) Close() error {
	z.Decoder.Close()
	return nil
}

func writeZstd(w io.Writer, sequential bool) (io.WriteCloser, error) {
	if sequential {
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	}
	return zstd.NewWriter(w, zstd.WithWindowSize(zstdWindow))
}

func readLZ4(r io.Reader, _ int) (io.ReadCloser, error) {
	z := lz4.NewReader(r)
	if err := z.Apply(lz4.ConcurrencyOption(1)); err != nil {
		return nil, err
	}
	return io.NopCloser(z), nil
}

// readLZMA2 reads a byte at a time where it can, so that it does not read past the end of the data.
func readLZMA2(r io.Reader, window int) (io.ReadCloser, error) {
	z, err := lzma.Reader2Config{DictCap: max(window, lzma.MinDictCap)}.NewReader2(r)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(z), nil
}

// database is an open bbolt database.
type database struct{ db *bbolt.DB }

func openDatabase(path string, lock time.Duration) (codec.Database, error) {
	db, err := bbolt.Open(path, 0, &bbolt.Options{ReadOnly: true, Timeout: lock})
	if errors.Is(err, bbolt.ErrTimeout) { //nolint:staticcheck // bbolt v1.3 has no package errors
		err = fmt.Errorf("%w: %w", codec.ErrLocked, err)
	}
	if err != nil {
		return nil, err
	}
	return database{db}, nil
}

func (d database) Begin() (codec.View, error) {
	tx, err := d.db.Begin(false)
	if err != nil {
		return nil, err
	}
	return view{tx}, nil
}

func (d database) Close() error { return d.db.Close() }

// view is a transaction that only reads.
type view struct{ tx *bbolt.Tx }

func (v view) Cursor(bucket []byte) codec.Cursor {
	if b := v.tx.Bucket(bucket); b != nil {
		return b.Cursor()
	}
	return nil
}

func (v view) Close() { _ = v.tx.Rollback() }
