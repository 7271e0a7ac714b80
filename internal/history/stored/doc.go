// Package stored is the past of a cluster in an etcd snapshot, which holds every revision since
// the last compaction: all kinds, as whole as they were, also those that nobody serves any more.
package stored
