//go:build !cgo || !linux

package store

func keepFreedMemory() {}
