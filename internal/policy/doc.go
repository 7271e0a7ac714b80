// Package policy defines what this program may do (protect.go). Some objects are protected unless
// the user unlocks their kind by name. Some kinds hold data. One run deletes no more than a limit.
// This applies to our own writes. Predictions ignore it, as Kubernetes does.
//
// It also defines the RBAC permissions that each command needs (permissions.go). Those of every
// authenticated user are left out: discovery (system:discovery) and questions about the own
// permissions (system:basic-user).
package policy
