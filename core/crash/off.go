//go:build !crashtest

package crash

// Point does nothing in this build.
func Point(string) {}
