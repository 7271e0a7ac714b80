// Package check lists the owner references of a snapshot that the collector would misunderstand, or
// that put their object at risk. It asks the engine and derives no rules. Unread objects prove
// nothing.
package check
