// Package reason is the only table of the codes of verdicts, findings and notes. Each code has a
// severity, a few words and a sentence. A family of codes is a file. Messages that name objects are
// written by the packages that find them.
package reason
