package local

import (
	"errors"
	"net/http"
	"strings"

	"lamplighter.dev/shared/engine/archive"
)

// besideFiles returns what answers requests: the API, and beside it the addresses of uploads and downloads, which in AWS are those of a bucket.
func (s *Service) besideFiles(api http.Handler) (http.Handler, error) {
	files, ok := s.Platform.Inbox.(*archive.FolderInbox)
	if !ok {
		return nil, errors.New("the inbox of the local service takes no files")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, archive.UploadPath):
			files.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, archive.DownloadPath):
			files.ServeDownload(w, r)
		default:
			api.ServeHTTP(w, r)
		}
	}), nil
}
