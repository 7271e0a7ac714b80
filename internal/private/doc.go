// Package private keeps files that only the user may access. They are in a directory that belongs
// to the user and that no other user can write to. No method reaches a file outside of it. A file
// is durable once Put and then Sync have returned without an error.
package private
