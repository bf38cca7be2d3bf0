package prompt

import (
	"io"
	"net/http"
	"os"

	"bellhop/core"
	"bellhop/core/provider"
)

// DefaultPicture is how large a picture may be in bytes; some endpoints take no more.
const DefaultPicture = 5 << 20

// Pictures returns what WireOptions.Image wants: it reads fetched attachments from disk. A file that is missing, larger
// than limit bytes, or of a type that not every endpoint with vision takes, is not shown.
func Pictures(limit int64) func(core.Attachment) (provider.Image, bool) {
	return func(a core.Attachment) (provider.Image, bool) {
		info, err := os.Stat(a.Path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
			return provider.Image{}, false
		}
		f, err := os.Open(a.Path)
		if err != nil {
			return provider.Image{}, false
		}
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, limit+1))
		if err != nil || int64(len(data)) > limit {
			return provider.Image{}, false
		}
		switch mime := http.DetectContentType(data); mime { // what it is, not what its sender said it is
		case "image/png", "image/jpeg", "image/gif", "image/webp":
			return provider.Image{MIME: mime, Data: data}, true
		}
		return provider.Image{}, false
	}
}
