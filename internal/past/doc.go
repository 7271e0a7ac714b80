// Package past tells what was deleted in a cluster, and because of which request.
//
// A Source has the Record of a time span: whole lists, and every write since in order. Sources are
// an API server, which remembers some minutes (package kube), an EtcdFile, which holds every
// revision since the last compaction, and a File of `snapshot --history`. An AuditLog adds the
// senders of requests.
//
// Trace replays a record with the garbage collector and the other controllers, and returns the
// Account: each loss with its cause. LostDocument reports the part of an account that a user asks
// for. Nothing here writes to a cluster.
package past
