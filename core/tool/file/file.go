package file

import "bellhop/core/tool"

// Options configure the tools. Zero values mean their defaults.
type Options struct {
	MaxRead   int // bytes of one read, 48 KiB
	MaxLines  int // lines of one read, 2000
	MaxWrite  int // bytes of one written file, 8 MiB
	MaxFound  int // hits of one search, 200
	MaxListed int // entries of one list, 500
}

// New returns the tools read_file, write_file, edit_file, list_files and search_files.
func New(o Options) []tool.Tool { return nil }
