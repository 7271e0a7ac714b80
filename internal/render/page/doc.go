// Package page writes a drawing as one HTML file in which a reader can move about,
// search, fold, and play the steps of a plan.
//
// The file asks for nothing: script, style and data are inside, and a content security
// policy with the hashes of the first two forbids everything else. Whatever comes from
// a cluster is data, which the script shows as text. The same document gives the same
// bytes. The script is made from web/ by `make web`.
package page
