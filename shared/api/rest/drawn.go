package rest

import (
	"net/http"
	"reflect"
	"strings"
)

// Pictured is the header that requests an answer as a picture. Embed it in the input of an operation that answers with
// Drawn.
type Pictured struct {
	Accept string `header:"Accept" hidden:"true"`
}

// SVGType is the content type of pictures.
const SVGType = "image/svg+xml"

// WantsPicture reports whether the client requests a picture: an image in a page, or a client that names its type.
func (p *Pictured) WantsPicture() bool {
	return strings.Contains(p.Accept, SVGType) && !strings.Contains(p.Accept, contentJSON)
}

// Drawn is an answer with data, or with a picture of it. The operation's Produces is SVGType.
type Drawn[T any] struct {
	Data    T
	Picture []byte
}

// drawn is implemented by all Drawn types.
type drawn interface {
	parts() (data any, picture []byte)
	data() reflect.Type
}

func (d Drawn[T]) parts() (data any, picture []byte) { return d.Data, d.Picture }

func (d Drawn[T]) data() reflect.Type { return reflect.TypeFor[T]() }

// PictureOf returns the answer with only the picture. It loads nothing from elsewhere and runs no script, even if it is
// opened as a page.
func PictureOf(svg []byte) Raw {
	return Raw{Body: svg, Header: http.Header{
		"Content-Type": {SVGType}, "Content-Security-Policy": {"default-src 'none'; style-src 'unsafe-inline'"},
		"X-Content-Type-Options": {"nosniff"}, "Vary": {"Accept"},
	}}
}
