// Package reach computes how far a delete can reach: which objects it may affect, which others
// decide about those (Map), and whether one namespace together with the cluster-scoped objects is
// enough to know it (OneNamespace).
//
// A delete goes from an owner to its dependents, from a namespace or a definition to its content,
// from a node to its pods, from a claim to its volume, from a Service to its Endpoints and addresses,
// from a ServiceAccount to its tokens, and from definitions to the APIService of their version. It
// goes the other way only if the object there is being deleted and waits for its dependents, its
// content, or its users.
//
// The package decides no deletions. Callers simulate the part of the snapshot that it returns. The
// part may have too many objects, never too few.
//
// # One namespace
//
// A reference has no namespace. It names an owner in the namespace of its dependent, or a
// cluster-scoped one. So every dependent of a namespaced object is in the same namespace. An object
// elsewhere with that uid in a reference is no dependent: the collector looks for the owner in the
// namespace of that object and does not find it, before and after the delete. (spec §3.6)
//
// There are exceptions, because the graph of the collector is keyed by uid only. An owner that waits
// for its dependents, or releases them, also waits for or releases objects that only have its uid. An
// object in another namespace may wait for one that stays here. A cluster-scoped object may have
// dependents everywhere. If one of these can matter, the part is not enough and the rest has to be
// read. Nothing is ever concluded about objects that the part does not show.
//
// A graph shows existing dependents. It leaves out objects elsewhere that only have the uid of one of
// its objects, and reports that they were not looked for.
//
// The package assumes that a uid is given once. It does not see that an object of another namespace
// has the uid of one in this namespace.
package reach
