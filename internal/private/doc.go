// Package private keeps files that are for the user alone: in a directory of his that nobody
// else can write to, with nothing reached through it that is outside of it, and on the disk
// when it is said that they are.
package private
