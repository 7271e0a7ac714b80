// Package deployers compares plans for objects of deployers with what the deployer's own code and a
// real control plane make of the delete.
package deployers
