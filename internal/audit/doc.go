// Package audit reads deletes and evictions from audit logs of API servers: their sender, options
// and time. Package history attributes losses to them.
package audit
