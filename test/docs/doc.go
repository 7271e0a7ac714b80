// Package docs holds what the pages promise to what the program does: every
// command that a page shows is run or is listed with the reason why not, what is
// shown below a command is what it prints, links lead somewhere, and documents are
// what their schemas say. (docs/testing.md)
package docs
