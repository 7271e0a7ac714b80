// Package cel evaluates CEL expressions about the metadata of an object, as admission policies have
// them. Some values may be unknown.
//
// A result is known only if no value of the unknown parts could change it. Whatever the package
// does not implement is unknown. For example, where the annotations of an object are unknown:
//
//	oldObject.metadata.name == "db"                          true or false
//	has(oldObject.metadata.annotations)                      unknown
//	has(oldObject.metadata.annotations) && false             false
//	object.metadata.name == "db"                             an error on DELETE, where object is null
//
// The complete implementation, cel-go, has to be told which parts are unknown. A snapshot can tell
// only which parts are known: every other field, and every other key, is unknown.
package cel
