package rest

import (
	"net/http"
	"reflect"
	"strings"
)

// Pictured is the header by which an answer is asked for as a picture; embed it in the input of an operation that answers with Drawn.
type Pictured struct {
	Accept string `header:"Accept" hidden:"true"`
}

// SVGType is the content type of pictures.
const SVGType = "image/svg+xml"

// WantsPicture reports whether a picture is asked for, rather than data: what a page asks for an image of, or a client that names the type.
func (p *Pictured) WantsPicture() bool {
	return strings.Contains(p.Accept, SVGType) && !strings.Contains(p.Accept, contentJSON)
}

// Drawn is an answer that is data, or a picture of it where there is one. The operation's Produces is SVGType.
type Drawn[T any] struct {
	Data    T
	Picture []byte
}

// drawn is what Drawn is whatever its data.
type drawn interface {
	parts() (data any, picture []byte)
	data() reflect.Type
}

func (d Drawn[T]) parts() (data any, picture []byte) { return d.Data, d.Picture }

func (d Drawn[T]) data() reflect.Type { return reflect.TypeFor[T]() }

// PictureOf returns the answer that a picture is by itself. It loads nothing from elsewhere and runs nothing, even when opened as a page.
func PictureOf(svg []byte) Raw {
	return Raw{Body: svg, Header: http.Header{
		"Content-Type": {SVGType}, "Content-Security-Policy": {"default-src 'none'; style-src 'unsafe-inline'"},
		"X-Content-Type-Options": {"nosniff"}, "Vary": {"Accept"},
	}}
}
