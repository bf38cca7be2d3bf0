package shell

import (
	"os"
	"path/filepath"
	"testing"

	"bellhop/core/tool"
)

// Where a shell goes by names and where the folders lead must be the same, each time round a loop, too.
func TestFoldersAreWhereTheySeem(t *testing.T) {
	workspace, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(workspace, "a", "b", "c"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("a", "b"), filepath.Join(workspace, "link")); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]tool.Verdict{
		"cd a/b && ls": tool.Allow,
		"cd a/b && until test -d ./proc/1; do cd ..; done; head ./etc/shadow": tool.Ask,
		"cd a && while true; do cd .. && cat ./rpc.token && exit; done":       tool.Ask,
		"cd link && cd .. && cat ../rpc.token":                                tool.Ask,
		"cd link/.. && cat ../rpc.token":                                      tool.Ask,
		"cd link && ls":                                                       tool.Ask,
	} {
		got := judge(text, place{workspace: workspace})
		if got.verdict != want && !(want == tool.Ask && got.verdict == tool.Forbid) {
			t.Errorf("%s: %v, want %v (%s)", text, got.verdict, want, got.why)
		}
	}
}
