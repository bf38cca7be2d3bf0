// Package pgtest runs a private PostgreSQL for tests: Debian's package, a folder of its own, loopback only, no password, no
// fsync. A server belongs to the test process that started it; Stop ends it, however the tests ended.
//
//	Start ---> initdb, postgres ---> Database(t): an empty database, dropped when t ends ---> Stop
//
// PostgreSQL refuses to run as root, so as root it runs as the user postgres.
package pgtest
