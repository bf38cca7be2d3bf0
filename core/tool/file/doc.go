// Package file is the tools that read and change files of the workspace: read_file, write_file, edit_file, list_files,
// search_files.
//
// Every path is opened through an os.Root of the workspace, so neither ".." nor a link leads out of it. Reads may also
// name a file of the spill folder, where large results wait.
//
//	read, list, search   inside: allow (ReadOnly)                   outside: forbid
//	write, edit          inside: allow (Idempotent)                 outside: forbid
//	                     inside a .git folder, be it behind a link: ask, each time, since what lies there can make git
//	                     run programs
//
// A file is replaced as a whole: the new content goes to a file beside it, which is then renamed. An edit names text
// that occurs exactly once, so repeating it fails instead of doing it twice.
//
// The tools do not run anything, do not follow a link out of the workspace, and keep no history: a checkpoint is
// somebody else's.
package file
