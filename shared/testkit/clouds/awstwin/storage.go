package awstwin

import (
	"crypto/md5" //nolint:gosec // S3's ETags are
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// stored is an object in a bucket.
type stored struct {
	bytes    []byte
	modified time.Time
}

// PutObject puts an object into a bucket. To read it, the bucket must exist.
func (c *Cloud) PutObject(bucket, key string, bytes []byte, modified time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.objects == nil {
		c.objects = map[string]*stored{}
	}
	c.objects[bucket+"/"+key] = &stored{bytes, modified}
}

// RemoveObject removes an object.
func (c *Cloud) RemoveObject(bucket, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.objects, bucket+"/"+key)
}

// CutObjects makes reads of objects break off half-way, or ends that.
func (c *Cloud) CutObjects(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = on
}

func (s *stored) etag() string {
	sum := md5.Sum(s.bytes) //nolint:gosec // as above
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// content is an answer with the bytes of an object.
type content struct {
	status int
	header map[string]string
	bytes  []byte
}

func (a content) write(w http.ResponseWriter) {
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.bytes)
}

// bucketHere returns the bucket of a request. It redirects a request for a bucket in another region.
func (c *Cloud) bucketHere(q request) (Bucket, *failure) {
	b, f := c.bucket(q)
	if f == nil && b.Region != q.region {
		f = newFailure(http.StatusMovedPermanently, "PermanentRedirect",
			"The bucket you are attempting to access must be addressed using the specified endpoint.")
		f.bucketRegion = b.Region
	}
	return b, f
}

func (c *Cloud) headBucket(q request) (any, *failure) {
	b, f := c.bucketHere(q)
	if f != nil {
		return nil, f
	}
	return content{http.StatusOK, map[string]string{"X-Amz-Bucket-Region": b.Region}, nil}, nil
}

// getObject answers with an object, a range of it, or the headers for a HEAD request.
func (c *Cloud) getObject(q request) (any, *failure) {
	if _, f := c.bucketHere(q); f != nil {
		return nil, f
	}
	o := c.objects[strings.Join(q.path, "/")]
	switch match := q.header.Get("If-Match"); {
	case o == nil:
		return nil, newFailure(http.StatusNotFound, "NoSuchKey", "The specified key does not exist.")
	case match != "" && match != o.etag():
		return nil, newFailure(http.StatusPreconditionFailed, "PreconditionFailed", "At least one of the "+
			"pre-conditions you specified did not hold")
	}
	a := content{
		http.StatusOK,
		map[string]string{"ETag": o.etag(), "Last-Modified": o.modified.UTC().Format(http.TimeFormat)},
		o.bytes,
	}
	var from, to int
	if n, _ := fmt.Sscanf(q.header.Get("Range"), "bytes=%d-%d", &from, &to); n == 2 {
		if from >= len(o.bytes) {
			return nil, newFailure(http.StatusRequestedRangeNotSatisfiable, "InvalidRange", "The requested range is "+
				"not satisfiable")
		}
		to = min(to, len(o.bytes)-1)
		a.status, a.bytes = http.StatusPartialContent, o.bytes[from:to+1]
		a.header["Content-Range"] = fmt.Sprintf("bytes %d-%d/%d", from, to, len(o.bytes))
	}
	a.header["Content-Length"] = strconv.Itoa(len(a.bytes))
	if q.method == http.MethodHead {
		a.bytes = nil
	} else if c.cut {
		a.bytes = a.bytes[:len(a.bytes)/2]
	}
	return a, nil
}

// listObjects lists the keys with the prefix. Keys with a common part up to the delimiter are one entry.
func (c *Cloud) listObjects(q request) (any, *failure) {
	b, f := c.bucketHere(q)
	if f != nil {
		return nil, f
	}
	prefix, delimiter := q.getString("prefix"), q.getString("delimiter")
	seen := map[string]bool{}
	var names []string
	for at := range c.objects {
		key, in := strings.CutPrefix(at, b.Name+"/")
		rest, has := strings.CutPrefix(key, prefix)
		if !in || !has || key <= q.getString("start-after") {
			continue
		}
		if i := strings.Index(rest, delimiter); delimiter != "" && i >= 0 {
			key = prefix + rest[:i+1]
		}
		if !seen[key] {
			names = append(names, key)
		}
		seen[key] = true
	}
	slices.Sort(names)
	from, to, next := c.cutPage(q, len(names), "max-keys", "continuation-token")
	nodes := []node{
		newText("Name", b.Name), newText("IsTruncated", strconv.FormatBool(next != "")),
		newText("NextContinuationToken", next),
	}
	for _, key := range names[from:to] {
		o := c.objects[b.Name+"/"+key]
		if o == nil {
			nodes = append(nodes, newElement("CommonPrefixes", newText("Prefix", key)))
			continue
		}
		nodes = append(nodes,
			newElement("Contents", newText("Key", key), newText("ETag", o.etag()),
				newText("Size", strconv.Itoa(len(o.bytes))),
				newText("LastModified", o.modified.UTC().Format("2006-01-02T15:04:05.000Z"))))
	}
	return nodes, nil
}
