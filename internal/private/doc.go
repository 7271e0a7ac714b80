// Package private keeps files that only the user may access. They are in a directory of the user
// that no other user can write to, nothing outside of it is reachable, and they are durable once
// that is reported.
package private
