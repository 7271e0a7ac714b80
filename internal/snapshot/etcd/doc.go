// Package etcd reads the storage of an API server from a file of etcd: the output of `etcdctl
// snapshot save`, or the db file of a stopped member. Such a file has every revision since the last
// compaction, and each of them is the whole cluster at one moment.
//
// The file is a bbolt database. bbolt trusts its files: a damaged or malicious page makes it panic,
// read outside the file or loop. All pages are therefore checked before bbolt opens the file.
package etcd

import "bytes"

// Magic reports whether a file that begins with start is a bbolt database.
func Magic(start []byte) bool {
	return len(start) >= headerSize+4 && bytes.Equal(start[headerSize:headerSize+4], []byte{0xed, 0xda, 0x0c, 0xed})
}

// Sniffed is the number of bytes that Magic needs.
const Sniffed = headerSize + 4
