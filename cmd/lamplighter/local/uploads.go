package local

import (
	"errors"
	"net/http"
	"strings"

	"lamplighter.dev/shared/engine/archive"
)

// besideUploads returns what answers requests: the API, and beside it the addresses of uploads, which in AWS are those of a bucket.
func (s *Service) besideUploads(api http.Handler) (http.Handler, error) {
	uploads, ok := s.Platform.Inbox.(http.Handler)
	if !ok {
		return nil, errors.New("the inbox of the local service takes no files")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, archive.UploadPath) {
			uploads.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	}), nil
}
