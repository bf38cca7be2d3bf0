// Package storetest is the suite that every core.Store passes, a file a subject.
//
// Each test runs in a synctest bubble on a store of its own, so hours of leases pass in no time; the store must take its
// time from time.Now, and live and die inside the bubble.
package storetest
