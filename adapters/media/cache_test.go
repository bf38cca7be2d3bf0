package media

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func cache(t *testing.T, dir string, o CacheOptions) *Cache {
	t.Helper()
	c, err := OpenCache(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func put(t *testing.T, c *Cache, s string) Key {
	t.Helper()
	key, n, err := c.Put(strings.NewReader(s))
	if err != nil || n != int64(len(s)) {
		t.Fatalf("put %d bytes: %d, %v", len(s), n, err)
	}
	return key
}

func has(t *testing.T, c *Cache, key Key) bool {
	t.Helper()
	f, err := c.Open(key)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	return f.Close() == nil
}

func TestCacheKeepsContent(t *testing.T) {
	dir := t.TempDir()
	c := cache(t, dir, CacheOptions{})
	key := put(t, c, "hello")
	if again := put(t, c, "hello"); again != key || put(t, c, "other") == key {
		t.Error("a key is not its content's")
	}
	if err := os.WriteFile(filepath.Join(dir, unfinished+"1"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	c = cache(t, dir, CacheOptions{}) // a new process
	f, err := c.Open(key)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(f); err != nil || string(b) != "hello" || f.Close() != nil {
		t.Errorf("%q, %v", b, err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("%v, %v: what was half written stays", list, err)
	}
	for _, bad := range []Key{"", "..", "../../etc/passwd", "nothing"} {
		if has(t, c, bad) {
			t.Errorf("%q is there", bad)
		}
	}
}

func TestCacheIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cache(t, t.TempDir(), CacheOptions{MaxBytes: 10, MaxAge: time.Hour})
		a := put(t, c, "aaaa")
		time.Sleep(time.Minute) // of the bubble
		b := put(t, c, "bbbb")
		time.Sleep(time.Minute)
		if !has(t, c, a) { // a is now the later used one
			t.Fatal("a is gone")
		}
		d := put(t, c, "dddd")
		if !has(t, c, a) || has(t, c, b) || !has(t, c, d) {
			t.Error("not the one used longest ago was dropped")
		}
		if _, _, err := c.Put(strings.NewReader(strings.Repeat("x", 11))); err == nil || !has(t, c, d) {
			t.Errorf("a file larger than all: %v", err)
		}
		time.Sleep(2 * time.Hour)
		if err := c.Sweep(); err != nil || has(t, c, a) || has(t, c, d) || c.total != 0 {
			t.Errorf("old files stay: %v, %d bytes", err, c.total)
		}
	})
}

func TestCacheLeavesNothingHalf(t *testing.T) {
	dir := t.TempDir()
	c := cache(t, dir, CacheOptions{})
	if _, _, err := c.Put(io.MultiReader(strings.NewReader("half"), &failing{})); err == nil {
		t.Error("no error")
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

type failing struct{}

func (*failing) Read([]byte) (int, error) { return 0, errors.New("cut off") }

func TestCacheTogether(t *testing.T) {
	c := cache(t, t.TempDir(), CacheOptions{MaxBytes: 64})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 20 {
				key, _, err := c.Put(strings.NewReader(strings.Repeat(string(rune('a'+(i+j)%5)), 20)))
				if err != nil {
					t.Error(err)
				}
				if f, err := c.Open(key); err == nil {
					f.Close()
				}
			}
		})
	}
	all.Wait()
	if c.total > 64 || c.total < 0 {
		t.Errorf("%d bytes are kept", c.total)
	}
}
