// Package crash names the points at which tests kill the process. Without the build tag crashtest a Point is an empty
// function that the compiler removes; with it, a Point whose name equals $BELLHOP_CRASH kills its own process with
// SIGKILL: nothing is flushed, no deferred call runs.
//
// $BELLHOP_CRASH is NAME or NAME:N, to die at the Nth passage. Names are constants of this package, one for each
// persisted boundary of the failure matrix; Points lists them for the kill matrix.
package crash
