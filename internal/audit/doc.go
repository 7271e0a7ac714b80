// Package audit reads the deletes and evictions out of audit logs of API servers: who sent
// them, with what, and when. It says nothing about what they took: package history does.
package audit
