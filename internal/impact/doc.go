// Package impact says how far a delete can reach: which objects it may concern, which
// of the others decide what becomes of these (Map), and whether one namespace and all
// that is in none is enough to know it (OneNamespace).
//
// A delete goes from an owner to its dependents, from a namespace or a definition to
// its content, from a node to its pods, from a claim to its volume, from a Service to
// its Endpoints and addresses, from a ServiceAccount to its tokens, from definitions to the APIService of their version. It
// goes the other way only where something waits already: for its dependents, its
// content, or those that use it.
//
// It derives no rule of deletion: what it names is simulated by those who ask, on a part
// of the snapshot that is as small as these paths allow. It may name too much, never
// too little.
//
// # One namespace
//
// A reference has no namespace: it names an owner in the namespace of its dependent,
// or one without a namespace. So whoever depends on an object of a namespace is in
// that namespace. An object elsewhere that has its uid in a reference is no dependent:
// the collector looks for the owner beside the object and does not find it, before the
// delete as after it. (spec §3.6)
//
// It is not quite as simple, for the graph of the collector knows uids only. Who waits
// for dependents, or releases them, waits for and releases those as well that have
// only the uid; what a namespace holds back may be waited for in another one; and what
// has no namespace has dependents everywhere. Wherever one of these can matter, the
// part is not enough and the rest has to be read. Nothing is ever concluded about what
// the part does not show.
//
// A graph shows the dependents that there are. What elsewhere has only the uid of one of
// its objects is not among them, and the graph says that nobody looked for it.
//
// What it takes for granted is that a uid is given once. That an object of another
// namespace has the uid of one of this namespace is not seen.
package impact
