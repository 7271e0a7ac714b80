// Package draw makes pictures of documents. A Scene places boxes for objects, areas for namespaces
// and arrows for owner references on a plane: owners on the left, their dependents on the right. It
// consists of numbers and plain texts.
//
// WriteSVG writes a self-contained document: no scripts, no fonts, no external content, and links
// only to its own boxes. It is readable in light and dark themes, and colour is never the only
// sign.
//
// WriteHTML writes one file that can be navigated, searched and folded, and plays the steps of a
// plan. The file loads nothing: script, style and data are inside, and a content security policy
// with the hashes of script and style forbids everything else. Everything from a cluster is data,
// which the script shows as text. The script is built from web/ by `make web`.
//
// WriteMermaid writes a flowchart, which code hosts show in place. Mermaid does the layout. There
// are no links and no directives, and names have no special meaning.
//
// The same document always gives the same bytes.
package draw
