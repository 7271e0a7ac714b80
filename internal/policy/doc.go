// Package policy says what this program may do. It must not delete some things unless it
// was told so by name; some kinds hold data; one run deletes no more than a limit
// (protect.go, data.go, limits.go). That bounds our own writes; predictions do not ask
// it, for Kubernetes does not either.
//
// And it says which RBAC permissions each command needs, as roles and no more
// (permissions.go). What every authenticated user may do anyway is left out: discovery
// (system:discovery) and questions about oneself (system:basic-user).
package policy
