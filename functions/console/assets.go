package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
	"strings"
)

//go:embed static
var static embed.FS

// The page, and the word in it that stands for the relative address of the files of its version.
const (
	pageName = "index.html"
	baseWord = "{{files}}"
)

// contentType returns the content type of an asset by its file extension. All assets are text, because binary answers
// would switch the whole API Gateway to base64.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml; charset=utf-8"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return "text/html; charset=utf-8"
}

// assets are the files of the console, in one version.
type assets struct {
	version string // sum of all files; it is part of their addresses
	page    string
	files   map[string][]byte // by the name below /console/v/<version>/
}

// loadAssets reads the embedded files. It panics if one cannot be read: the binary is broken.
func loadAssets() assets {
	a := assets{files: map[string][]byte{}}
	sum := sha256.New()
	err := fs.WalkDir(static, "static", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := static.ReadFile(name)
		_, _ = sum.Write([]byte(name + "\x00"))
		_, _ = sum.Write(b) // a hash returns no error
		a.files[strings.TrimPrefix(name, "static/")] = b
		return err
	})
	if err != nil {
		panic("console: read embedded files: " + err.Error())
	}
	a.version = hex.EncodeToString(sum.Sum(nil)[:8])
	a.page = string(a.files[pageName])
	delete(a.files, pageName)
	return a
}

// pageAt returns the page for a request's path. Addresses in it are relative, so that it works below a stage's prefix
// such as /prod, which the path does not have.
func (a *assets) pageAt(requestPath string) string {
	up := strings.Repeat("../", max(strings.Count(requestPath, "/")-1, 0))
	return strings.ReplaceAll(a.page, baseWord, up+"console/v/"+a.version)
}
