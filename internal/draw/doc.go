// Package draw makes pictures of documents. A Scene places boxes for objects, areas for
// namespaces and arrows for owner references on a plane: owners on the left, their
// dependents on the right. It is numbers and plain words; draw/layout finds the places.
//
// WriteSVG writes it as a document that stands by itself: no script, no font, nothing
// from elsewhere, links to its own boxes only. It can be read in light and dark themes,
// and says nothing by colour alone.
//
// WriteHTML writes one file in which a reader can move about, search, fold, and play the
// steps of a plan. The file asks for nothing: script, style and data are inside, and a
// content security policy with the hashes of the first two forbids everything else.
// Whatever comes from a cluster is data, which the script shows as text. The script is
// made from web/ by `make web`.
//
// WriteMermaid writes a flowchart, which the pages of code hosts show in place: where
// things stand is left to Mermaid. There are no links and no directives, and names mean
// nothing but themselves.
//
// The same document always gives the same bytes.
package draw
