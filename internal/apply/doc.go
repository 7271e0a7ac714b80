// Package apply executes a plan within its bounds. It checks permissions, backs up the objects that
// will be deleted, and sends the writes through the bounds of the plan and a journal. An unplanned
// write is not sent and ends the run. (spec §16)
package apply
