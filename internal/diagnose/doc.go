// Package diagnose holds what the diagnoses of a whole snapshot have in common: a
// document has its findings in order, counted, with what was not seen. The packages
// beside it ask the engine and derive no rule: check is about bad owner references,
// stuck about what everything that is being deleted waits for in the end, explain about
// one object.
package diagnose
