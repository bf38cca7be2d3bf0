package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

//go:embed page
var page embed.FS

// policy lets the page load its own files and talk to its own gateway, and nothing else: no inline script or style, no
// frames, no forms that go elsewhere.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// types are what the page consists of; nothing else is served.
var types = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

// file is one file of the page, ready to be sent.
type file struct {
	body []byte
	kind string
	etag string
}

// Handler serves the page at / and its files at /web/. Anything else is 404. It needs no key: there is nothing secret in
// it.
func Handler() http.Handler {
	files := load()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "use GET", http.StatusMethodNotAllowed)
		default:
			f.serve(w, r)
		}
	})
}

func (f file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", f.etag)
	if r.Header.Get("If-None-Match") == f.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Write(f.body)
}

// load reads the embedded files once.
func load() map[string]file {
	files := map[string]file{}
	names, err := fs.Glob(page, "page/*")
	for _, name := range names {
		var body []byte
		if body, err = page.ReadFile(name); err != nil {
			break
		}
		sum := sha256.Sum256(body)
		f := file{body, types[path.Ext(name)], `"` + hex.EncodeToString(sum[:8]) + `"`}
		files["/web/"+strings.TrimPrefix(name, "page/")] = f
	}
	if err != nil { // the files are part of the program
		panic("web: embedded page: " + err.Error())
	}
	files["/"] = files["/web/index.html"]
	delete(files, "/web/index.html")
	return files
}
