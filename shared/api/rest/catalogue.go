package rest

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// catalogueAge is how long clients may keep a catalogue without asking for it again.
const catalogueAge = "private, max-age=3600"

// writeCatalogue writes an answer that clients may keep, or 304 if the client has it.
func writeCatalogue(ctx huma.Context, status int, body []byte) {
	sum := sha256.Sum256(body)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	ctx.SetHeader("Cache-Control", catalogueAge)
	ctx.SetHeader("ETag", tag)
	if matchesTag(ctx.Header("If-None-Match"), tag) {
		writeAnswer(ctx, http.StatusNotModified, "", nil)
		return
	}
	writeAnswer(ctx, status, contentJSON, body)
}

// matchesTag reports whether the value of If-None-Match names a tag (RFC 9110, section 13.1.2). Proxies that compress
// an answer make its tag a weak one.
func matchesTag(condition, tag string) bool {
	for one := range strings.SplitSeq(condition, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
			return true
		}
	}
	return false
}

// describeCatalogue adds the headers of a catalogue and the answer 304 to the description of its operation.
func (o *operation) describeCatalogue(hop *huma.Operation) {
	if !o.Catalogue {
		return
	}
	text := &huma.Schema{Type: huma.TypeString}
	hop.Parameters = append(hop.Parameters, &huma.Param{
		Name: "If-None-Match", In: "header", Schema: text, Description: "The ETag of an earlier answer",
	})
	addHeader(hop.Responses[strconv.Itoa(o.Status)], "ETag", &huma.Param{
		Description: "Names this content: send it as If-None-Match. Clients may keep the answer for an hour",
		Schema:      text,
	})
	hop.Responses[strconv.Itoa(http.StatusNotModified)] = &huma.Response{
		Description: "The content is that of the ETag in If-None-Match",
	}
}
