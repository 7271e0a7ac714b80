// Package diagnose has the parts that all diagnoses of a whole snapshot share: a document with its
// findings sorted and counted, and with the gaps. The packages below it ask the engine and derive no
// rules: check reports bad owner references, stuck reports what each object that is being deleted
// finally waits for, explain reports on one object.
package diagnose
