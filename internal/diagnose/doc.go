// Package diagnose diagnoses a whole snapshot. Check reports bad owner references. Answer is what
// check and stuck share: a document with its findings sorted and counted, and with the gaps. This
// package and those below it ask the engine and derive no rules, and unread objects prove nothing:
// stuck reports what each object that is being deleted finally waits for, explain reports on one
// object.
package diagnose
