// Package stored is the past of a cluster in an etcd snapshot, which holds every revision since the
// last compaction: all kinds with their whole content, also kinds that are no longer served.
package stored
