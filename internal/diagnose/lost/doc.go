// Package lost answers what is gone, and who took it: an account of a server's history as a
// document, of as much of the cluster as was asked about. It derives no cause: package history
// does.
package lost
