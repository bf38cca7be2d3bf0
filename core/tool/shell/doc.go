// Package shell is the tool that runs a command line in the workspace.
package shell
