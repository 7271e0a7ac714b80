// Package backup saves the objects that a run is about to change, and restores them.
//
// A backup is a directory with the exact bytes of every object, a manifest that lists them with
// reasons, and a journal of every request. It is complete and on the disk before the first request
// is sent. If it cannot be written, the run stops.
//
//	20261121T221724Z-1ac5b9a2/      0700, of the user
//	  manifest.json                 contents, cluster and plan
//	  00000001.json …               one object each, as the server sent it
//	  journal.jsonl                 one line for each intent and each result
//	  undo/                         the backups of its undos, in the same form
//
// Files have numbers as names. No name of an object, a namespace or a cluster ever becomes part of
// a path. The hashes detect damage and careless edits. They are not a signature: the owner of the
// directory can rewrite all of it. (spec §20, I6, I9, N31, X10, X21)
//
// PlanUndo reads the current state of the cluster and has backup/undo plan the steps. Undo.Try
// sends every creation as a dry run, and Undo.Run recreates what is gone, owners first. Existing
// objects are never overwritten; an interrupted undo resumes where it stopped.
// (spec §20, W16, N31–N33)
package backup
