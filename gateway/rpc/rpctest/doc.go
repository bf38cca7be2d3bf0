// Package rpctest is a gateway in memory for tests of the door for rich clients and of what speaks to it: the real desks
// and the real registry over a small store, and turns that a test scripts.
//
//	b := rpctest.New(t, func(ctx context.Context, t *rpctest.Turn) { t.Say("hello") })
//	srv := rpc.New(b.Config())
//
// It keeps everything until the test ends and knows neither leases nor crashes.
package rpctest
