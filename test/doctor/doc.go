// Package doctor tests the examination of a garbage collector with graphs that this program writes as the
// collector's debug endpoint does. It is no part of package diagnose, whose tests may not need package render:
// gctest is built on diagnose, and the modules of its users would list the checksums of a command line.
package doctor
