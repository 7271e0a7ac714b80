// Package lost reports what was deleted, and because of which requests: an account of a server's
// history as a document, limited to the part of the cluster that was asked about. It derives no
// causes. Package history does.
package lost
