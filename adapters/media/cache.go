package media

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// CacheOptions bound a Cache; a zero field does not bound.
type CacheOptions struct {
	MaxBytes int64
	MaxAge   time.Duration // since the last use
}

// Cache keeps files on disk under the hash of their content. Safe for concurrent use by one process.
type Cache struct {
	dir string
	o   CacheOptions

	mu    sync.Mutex
	kept  map[string]kept
	total int64
}

type kept struct {
	size int64
	used time.Time
}

// Key names a file: the SHA-256 of its content in hex.
type Key string

const unfinished = "incoming-"

// OpenCache opens the cache in dir, which it makes where it is missing. What an earlier process left half written is
// removed.
func OpenCache(dir string, o CacheOptions) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	c := &Cache{dir: dir, o: o, kept: map[string]kept{}}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if err := c.adopt(e); err != nil {
			return nil, err
		}
	}
	return c, c.Sweep()
}

func (c *Cache) adopt(e fs.DirEntry) error {
	if strings.HasPrefix(e.Name(), unfinished) {
		return os.Remove(filepath.Join(c.dir, e.Name()))
	}
	info, err := e.Info()
	if err != nil || !info.Mode().IsRegular() || len(e.Name()) != 2*sha256.Size {
		return nil // not one of ours
	}
	c.kept[e.Name()] = kept{info.Size(), info.ModTime()}
	c.total += info.Size()
	return nil
}

// Put stores what r holds and returns its key and size. It appears whole or not at all. A file larger than the whole
// cache is refused with Kind TooLarge.
func (c *Cache) Put(r io.Reader) (Key, int64, error) {
	tmp, err := os.CreateTemp(c.dir, unfinished)
	if err != nil {
		return "", 0, err
	}
	sum := sha256.New()
	n, err := c.fill(tmp, io.TeeReader(r, sum))
	key := hex.EncodeToString(sum.Sum(nil))
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = c.take(tmp.Name(), key, n)
	}
	if err != nil {
		return "", 0, errors.Join(err, os.Remove(tmp.Name()))
	}
	return Key(key), n, c.Sweep()
}

func (c *Cache) fill(w io.Writer, r io.Reader) (int64, error) {
	if c.o.MaxBytes > 0 {
		r = io.LimitReader(r, c.o.MaxBytes+1)
	}
	n, err := io.Copy(w, r)
	if err == nil && c.o.MaxBytes > 0 && n > c.o.MaxBytes {
		err = &Error{Kind: TooLarge, Text: fmt.Sprintf("more than %d bytes", c.o.MaxBytes)}
	}
	return n, err
}

func (c *Cache) take(tmp, key string, n int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := os.Rename(tmp, filepath.Join(c.dir, key)); err != nil {
		return err
	}
	if _, had := c.kept[key]; !had {
		c.total += n
	}
	c.kept[key] = kept{n, time.Now()}
	return nil
}

// Open opens a file; fs.ErrNotExist when it is not, or no longer, kept. An open file stays readable when it is dropped.
func (c *Cache) Open(key Key) (*os.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.kept[string(key)]
	if !ok {
		return nil, fs.ErrNotExist
	}
	path := filepath.Join(c.dir, string(key))
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	k.used = time.Now()
	c.kept[string(key)] = k
	if err := os.Chtimes(path, k.used, k.used); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Sweep drops what is too old, and then what was used longest ago until the rest fits.
func (c *Cache) Sweep() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := make([]string, 0, len(c.kept))
	for k := range c.kept {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(c.kept[a].used.Compare(c.kept[b].used), cmp.Compare(a, b))
	})
	var errs []error
	for _, key := range keys {
		old := c.o.MaxAge > 0 && time.Since(c.kept[key].used) > c.o.MaxAge
		full := c.o.MaxBytes > 0 && c.total > c.o.MaxBytes
		if !old && !full {
			break
		}
		if err := os.Remove(filepath.Join(c.dir, key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
			continue
		}
		c.total -= c.kept[key].size
		delete(c.kept, key)
	}
	return errors.Join(errs...)
}
