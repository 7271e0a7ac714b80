// Package etcd reads what an API server stores, from a file of etcd: what `etcdctl snapshot
// save` writes, or the db of a member that does not run. Such a file holds every revision since
// the last compaction, and each of them is the whole cluster at one moment.
//
// The file is a database of bbolt, which trusts its files: a page that was damaged, or made to
// do harm, makes it panic, read beside the file or walk in circles. So all pages are checked
// before it sees the file.
package etcd

import "bytes"

// Magic reports whether a file that begins with start is a database of bbolt.
func Magic(start []byte) bool {
	return len(start) >= headerSize+4 && bytes.Equal(start[headerSize:headerSize+4], []byte{0xed, 0xda, 0x0c, 0xed})
}

// Sniffed is how much of a file Magic wants to see.
const Sniffed = headerSize + 4
