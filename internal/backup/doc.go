// Package backup keeps what a run is about to change, and brings it back.
//
// A backup is a directory with the exact bytes of every object, a manifest that says
// which and why, and a journal of every request. It is complete and on the disk before
// the first request is sent; whatever prevents that prevents the run.
//
//	20261121T221724Z-1ac5b9a2/      0700, of the user
//	  manifest.json                 what is in here, for which cluster and plan
//	  00000001.json …               one object each, as the server sent it
//	  journal.jsonl                 one line for each intent and each result
//	  undo/                         the same of each undo
//
// Names of files are numbers. No name of an object, a namespace or a cluster ever
// becomes part of a path. The hashes show damage and careless edits. Who owns the
// directory can rewrite all of it; nothing here is a signature. (spec §20, I6, I9,
// N31, X10, X21)
//
// PlanUndo asks the cluster what is there and has backup/undo plan the steps. Undo.Try
// tries every creation without storing it, and Undo.Run makes what is gone, owners first.
// What is there is never overwritten; an undo that was interrupted goes on where it
// stopped. (spec §20, W16, N31–N33)
package backup
