// Package codec opens compressed streams and bbolt databases with implementations that a program
// links by importing package codec/all. A Go test that uses package gctest reads neither, and so
// its module does not depend on their libraries.
package codec
