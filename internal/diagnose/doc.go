// Package diagnose looks at a whole snapshot for what is wrong with it: here, bad
// owner references (Check). Like explain it asks the engine and derives no rule.
package diagnose
