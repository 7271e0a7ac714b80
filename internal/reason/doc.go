// Package reason is the one table of what verdicts, findings and notes may say: each
// code with its severity, a few words and a sentence. A family of codes is a file. What
// needs the object at hand, its owners or what it waits for, is a message, and written
// by whoever knows them.
package reason
