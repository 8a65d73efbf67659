package wire

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/ec2query"
	awsxml "github.com/aws/aws-sdk-go-v2/aws/protocol/xml"
	smithytime "github.com/aws/smithy-go/time"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// EC2 is the protocol of EC2 alone: a form is sent, XML comes back.
type EC2 struct{ Version string }

func (e EC2) encode(req *smithyhttp.Request, op Operation, in any) (*smithyhttp.Request, error) {
	return postForm(req, op, e.Version, in)
}

func (EC2) decode(body io.Reader, _ Operation, out any) error {
	d := xml.NewDecoder(body)
	root, err := nextElement(d)
	if err != nil {
		return xmlError(orEnd(err))
	}
	return xmlError(d.DecodeElement(out, &root))
}

func (EC2) decodeError(_ http.Header, body []byte) (failure, error) {
	e, err := ec2query.GetErrorResponseComponents(bytes.NewReader(body))
	return failure{e.Code, e.Message, e.RequestID}, err
}

// Query is the protocol AWS Query: a form is sent, XML comes back in an element that is named after the operation.
type Query struct{ Version string }

func (q Query) encode(req *smithyhttp.Request, op Operation, in any) (*smithyhttp.Request, error) {
	return postForm(req, op, q.Version, in)
}

func (Query) decode(body io.Reader, op Operation, out any) error {
	d := xml.NewDecoder(body)
	if _, err := nextElement(d); err != nil {
		return xmlError(orEnd(err))
	}
	for {
		e, err := nextElement(d)
		switch {
		case err != nil:
			return fmt.Errorf("failed to decode response body, %sResult node not found: %w", op.Name, err)
		case e.Name.Local == op.Name+"Result":
			return xmlError(d.DecodeElement(out, &e))
		}
		if err := d.Skip(); err != nil {
			return xmlError(err)
		}
	}
}

func (Query) decodeError(_ http.Header, body []byte) (failure, error) {
	return decodeXMLError(body)
}

// RESTXML is the protocol AWS REST XML, as S3 Control uses it.
type RESTXML struct{}

func (RESTXML) encode(req *smithyhttp.Request, op Operation, in any) (*smithyhttp.Request, error) {
	enc, err := bindRequest(req, op, in)
	if err != nil {
		return nil, err
	}
	req.Request, err = enc.Encode(req.Request)
	return req, err
}

func (RESTXML) decode(body io.Reader, op Operation, out any) error {
	return EC2{}.decode(body, op, out)
}

func (RESTXML) decodeError(_ http.Header, body []byte) (failure, error) {
	return decodeXMLError(body)
}

func decodeXMLError(body []byte) (failure, error) {
	e, err := awsxml.GetErrorResponseComponents(bytes.NewReader(body), false)
	return failure{e.Code, e.Message, e.RequestID}, err
}

// nextElement returns the next element that begins before the current one ends.
func nextElement(d *xml.Decoder) (xml.StartElement, error) {
	for {
		t, err := d.Token()
		if err != nil {
			return xml.StartElement{}, err
		}
		switch e := t.(type) {
		case xml.StartElement:
			return e, nil
		case xml.EndElement:
			return xml.StartElement{}, fmt.Errorf("%s has ended", e.Name.Local)
		}
	}
}

func xmlError(err error) error {
	if err != nil {
		return fmt.Errorf("failed to decode response body, %w", err)
	}
	return nil
}

func postForm(req *smithyhttp.Request, op Operation, version string, in any) (*smithyhttp.Request, error) {
	form := url.Values{"Action": {op.Name}, "Version": {version}}
	if p, is := in.(*Params); is {
		p.addTo(form)
	} else {
		addForm(form, "", reflect.ValueOf(in))
	}
	return newPost(req, "application/x-www-form-urlencoded", []byte(form.Encode()))
}

// addForm adds a value under its name. The members of a list are numbered from 1: "InstanceId.1".
func addForm(form url.Values, name string, v reflect.Value) {
	switch v = reflect.Indirect(v); {
	case !v.IsValid():
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[Time]():
		for f, field := range v.Fields() {
			if field.IsZero() {
				continue
			}
			member := f.Tag.Get("form")
			if name != "" {
				member = name + "." + member
			}
			addForm(form, member, field)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			addForm(form, name+"."+strconv.Itoa(i+1), v.Index(i))
		}
	default:
		form.Set(name, textOf(v))
	}
}

// textOf writes a simple value, or the one that v points to. It returns "" for nil.
func textOf(v reflect.Value) string {
	v = reflect.Indirect(v)
	switch {
	case !v.IsValid():
		return ""
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'f', -1, v.Type().Bits())
	}
	if t, ok := reflect.TypeAssert[Time](v); ok {
		return smithytime.FormatDateTime(t.Time)
	}
	return fmt.Sprint(v.Interface())
}
