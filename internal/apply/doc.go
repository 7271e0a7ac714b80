// Package apply carries out a plan inside its bounds: it asks for the rights
// first, backs up what will go, and then has the collector run over the cluster,
// through the bounds of the plan and a journal. What the plan did not foresee is
// not done, and ends the run. (spec §16)
package apply
