// Package deliver is the gateway's only mouth: everything said on a platform is said here.
package deliver
