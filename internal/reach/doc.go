// Package reach tells how far a delete can reach: which objects it may concern, and
// which of the others decide what becomes of these.
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
package reach
