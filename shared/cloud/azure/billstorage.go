package azure

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"lamplighter.dev/shared/cloud"
)

const (
	storageScope   = "https://storage.azure.com/.default"
	storageVersion = "2021-12-02"
	blobHost       = ".blob.core.windows.net"
	// blobsNeed is the data permission of blobs, which the role Storage Blob Data Reader gives.
	blobsNeed = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs/read"
	// maxBlobs is the maximum number of blobs of an export that are looked at.
	maxBlobs = 100_000
	// maxManifest bounds a manifest.
	maxManifest = 8 << 20
)

var (
	storageName   = regexp.MustCompile(`^[a-z0-9]{3,24}$`)
	containerName = regexp.MustCompile(`^(\$root|[a-z0-9](-?[a-z0-9]){2,62})$`)
)

// container is a container of a storage account. Of the storage service two calls are made, which do not need its SDK:
// that links a reader of Arrow, and would weigh 5 MB.
type container struct {
	pipeline runtime.Pipeline
	endpoint string // of a custom endpoint, which has the accounts as folders; "" is Azure's
	account  string
	name     string
}

// blob is an entry in a listing of blobs.
type blob struct {
	name, etag string
	size       int64
	modified   time.Time
}

func (c *conn) billContainer(account, name string) (container, error) {
	if !storageName.MatchString(account) || !containerName.MatchString(name) {
		return container{}, cloud.ErrInvalid("%.64q is no storage account, or %.64q no container of one", account, name)
	}
	return container{c.storage, c.storageEndpoint, account, name}, nil
}

// containerAddress is the address of the container.
func (k container) containerAddress() string {
	if k.endpoint != "" {
		return k.endpoint + "/" + k.account + "/" + k.name
	}
	return "https://" + k.account + blobHost + "/" + k.name
}

// nameOf returns the address of a blob at Azure itself, also for a custom endpoint.
func (k container) nameOf(blob string) string {
	return "https://" + k.account + blobHost + "/" + k.name + "/" + blob
}

// parseBlob takes account, container and blob out of the address of a blob.
func parseBlob(address string) (account, name, blob string, ok bool) {
	rest, ok := strings.CutPrefix(address, "https://")
	host, path, found := strings.Cut(rest, "/")
	account, isBlob := strings.CutSuffix(host, blobHost)
	name, blob, inside := strings.Cut(path, "/")
	return account, name, blob, ok && found && isBlob && inside && blob != ""
}

// getBlob makes a GET. It returns an error unless the answer is a success.
func (k container) getBlob(ctx context.Context, address string, header map[string]string) (*http.Response, error) {
	req, err := runtime.NewRequest(ctx, http.MethodGet, address)
	if err != nil {
		return nil, cloud.ErrInvalid("%.300q is not the address of a blob: %v", address, err)
	}
	req.Raw().Header.Set("X-Ms-Version", storageVersion)
	for name, value := range header {
		req.Raw().Header.Set(name, value)
	}
	resp, err := k.pipeline.Do(req)
	if err != nil {
		return nil, classifyError(blobsNeed, err)
	}
	if !runtime.HasStatusCode(resp, http.StatusOK, http.StatusPartialContent) {
		defer resp.Body.Close()
		return nil, withWhat(k.account+"/"+k.name, classifyError(blobsNeed, runtime.NewResponseError(resp)))
	}
	return resp, nil
}

// withWhat prefixes an error with its subject, because Azure's words do not name it.
func withWhat(what string, err error) error {
	e, ok := errors.AsType[*cloud.Error](err)
	if !ok {
		return err
	}
	told := *e
	told.Message = what + ": " + e.Message
	if e.Class == cloud.Denied {
		told.Message += "; the application needs the role Storage Blob Data Reader in the storage account"
	}
	return &told
}

// blobList is a page of a listing.
type blobList struct {
	Blobs []struct {
		Name       string `xml:"Name"`
		Properties struct {
			Size     int64  `xml:"Content-Length"`
			ETag     string `xml:"Etag"`
			Modified string `xml:"Last-Modified"`
		} `xml:"Properties"`
	} `xml:"Blobs>Blob"`
	Next string `xml:"NextMarker"`
}

// listBlobs lists the blobs whose names begin with the prefix.
func (k container) listBlobs(ctx context.Context, prefix string) ([]blob, error) {
	var out []blob
	for marker := ""; len(out) <= maxBlobs; {
		q := url.Values{"restype": {"container"}, "comp": {"list"}, "prefix": {prefix}}
		if marker != "" {
			q.Set("marker", marker)
		}
		page, err := k.listPage(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, b := range page.Blobs {
			modified, err := time.Parse(time.RFC1123, b.Properties.Modified)
			if err != nil {
				return nil, errUnreadable(k.nameOf(b.Name), err)
			}
			out = append(out, blob{b.Name, b.Properties.ETag, b.Properties.Size, modified.UTC()})
		}
		if marker = page.Next; marker == "" {
			return out, nil
		}
	}
	return nil, cloud.ErrUnsupported(
		"%s/%s has more than %d blobs: delete old deliveries, by a rule of the storage account", k.nameOf(""), prefix,
		maxBlobs)
}

func (k container) listPage(ctx context.Context, q url.Values) (blobList, error) {
	var page blobList
	resp, err := k.getBlob(ctx, k.containerAddress()+"?"+q.Encode(), nil)
	if err != nil {
		return page, err
	}
	defer resp.Body.Close()
	if err := runtime.UnmarshalAsXML(resp, &page); err != nil {
		return page, errUnreadable(k.containerAddress(), err)
	}
	return page, nil
}

// readBlob reads a small blob whole.
func (k container) readBlob(ctx context.Context, b blob) ([]byte, error) {
	if b.size > maxManifest {
		return nil, cloud.ErrUnsupported("%s has %d bytes", k.nameOf(b.name), b.size)
	}
	p := make([]byte, b.size)
	if b.size == 0 {
		return p, nil
	}
	return p, k.fetchRange(ctx, p, 0, cloud.BillFile{Name: k.nameOf(b.name), Version: b.etag})
}

// fetchRange fills p with the bytes at offset off of a blob. It returns an error if the blob has changed.
func (k container) fetchRange(ctx context.Context, p []byte, off int64, of cloud.BillFile) error {
	_, _, name, _ := parseBlob(of.Name)
	header := map[string]string{"X-Ms-Range": fmt.Sprintf("bytes=%d-%d", off, off+int64(len(p))-1)}
	if of.Version != "" {
		header["If-Match"] = of.Version
	}
	resp, err := k.getBlob(ctx, k.containerAddress()+escapePath("/"+name), header)
	if e, ok := errors.AsType[*cloud.Error](err); ok && e.Class == cloud.Moving {
		return &cloud.Error{
			Class: cloud.Moving, Op: blobsNeed, Code: "Replaced", Err: err,
			Message: of.Name + " was replaced while it was read: it is read anew from the next delivery",
		}
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := runtime.Payload(resp)
	if err != nil || len(body) != len(p) {
		return &cloud.Error{
			Class: cloud.Transient, Op: blobsNeed, Code: "NoAnswer", Err: err,
			Message: fmt.Sprintf("%s broke off: %d of %d bytes came", of.Name, len(body), len(p)),
		}
	}
	copy(p, body)
	return nil
}

// storageMessage returns the message of an answer of the storage service, which is XML; "" when there is none.
func storageMessage(body []byte) string {
	var answer struct {
		Message string `xml:"Message"`
	}
	if xml.Unmarshal(body, &answer) != nil { //nolint:gosec // into one text, of an answer that is bounded
		return ""
	}
	line, _, _ := strings.Cut(answer.Message, "\n")
	return strings.TrimSpace(line)
}
