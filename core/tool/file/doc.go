// Package file is the tools that read and change files of the workspace.
package file
