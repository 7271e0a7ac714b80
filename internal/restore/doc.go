// Package restore carries out an undo: it asks the cluster what is there, plans
// with package undo, tries every creation without storing it, and then makes what
// is gone, owners first. What is there is never overwritten. Its journal stands in
// the directory `undo` of the bundle, and from there an undo that was cut short
// goes on. (safety.md 4.6, W16, N31–N33)
package restore
