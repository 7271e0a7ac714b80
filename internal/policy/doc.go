// Package policy defines what this program may do. Some things are protected unless the user
// unlocks them by name; some kinds hold data; one run deletes no more than a limit (protect.go,
// data.go, limits.go). This applies to our own writes. Predictions ignore it, as Kubernetes does.
//
// It also defines the RBAC permissions that each command needs (permissions.go). Those of every
// authenticated user are left out: discovery (system:discovery) and questions about the own
// permissions (system:basic-user).
package policy
