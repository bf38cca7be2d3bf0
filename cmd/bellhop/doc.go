// Command bellhop is the gateway and its tools in one binary. This package is the composition root: it reads flags and
// the environment, wires the packages together, owns signals, the one listener and exit codes. It holds no logic of the
// product; what it knows is who needs whom.
//
//	serve: lock the data folder -> listen -> open the store -> start hub, ask, dispatch, deliver -> start adapters -> ready line
//	stop:  adapters stop receiving -> turns drain (25 s) -> deliver flushes -> store closes -> exit 0; a second signal exits at once
//
// Exit codes: 0 ok, 1 failed, 2 usage, 78 configuration (a bad file, or a port, token or data folder that another
// instance uses). Nothing that talks to a platform is opened before the listener is bound and the folder is locked.
package main
