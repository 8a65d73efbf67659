package main

import (
	"encoding/xml"
	"fmt"
	"reflect"
	"strings"
	"time"

	"lamplighter.dev/shared/testkit/clouds/awswire"
)

// xmlBody makes the bodies of one operation.
type xmlBody struct{ protocol, op string }

func (b xmlBody) wrap(inner string) string {
	switch b.protocol {
	case "query":
		return "<" + b.op + "Response xmlns=\"http://x.amazonaws.com/doc/\">\n <" + b.op + "Result>" +
			inner + "</" + b.op + "Result>\n <ResponseMetadata><RequestId>r-1</RequestId></ResponseMetadata>\n</" +
			b.op + "Response>"
	case "restxml":
		return "<PublicAccessBlockConfiguration xmlns=\"http://awss3control.amazonaws.com/doc/\">" + inner +
			"</PublicAccessBlockConfiguration>"
	}
	return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<" + b.op +
		"Response xmlns=\"http://ec2.amazonaws.com/doc/\">\n <requestId>r-1</requestId>" + inner +
		"</" + b.op + "Response>"
}

func (b xmlBody) failure(code, message string) string {
	if b.protocol == "ec2" {
		return "<Response><Errors><Error><Code>" + code + "</Code><Message>" + message +
			"</Message></Error></Errors><RequestID>r-2</RequestID></Response>"
	}
	return "<ErrorResponse><Error><Type>Sender</Type><Code>" + code + "</Code><Message>" + message +
		"</Message></Error><RequestId>r-2</RequestId></ErrorResponse>"
}

// xmlOf writes the members of a struct by their tags.
func xmlOf(v reflect.Value) string {
	var out strings.Builder
	for f, field := range v.Fields() {
		outer, item, nested := strings.Cut(f.Tag.Get("xml"), ">")
		if field.Kind() != reflect.Slice {
			out.WriteString("<" + outer + ">" + xmlValue(field) + "</" + outer + ">")
			continue
		}
		if !nested {
			item = outer
		}
		var members strings.Builder
		for i := range field.Len() {
			members.WriteString("<" + item + ">" + xmlValue(field.Index(i)) + "</" + item + ">")
		}
		if nested {
			out.WriteString("<" + outer + ">" + members.String() + "</" + outer + ">")
		} else {
			out.WriteString(members.String())
		}
	}
	return out.String()
}

func xmlValue(v reflect.Value) string {
	v = reflect.Indirect(v)
	if awswire.IsTime(v.Type()) {
		return v.FieldByName("Time").Interface().(time.Time).Format("2006-01-02T15:04:05.000Z")
	}
	if v.Kind() == reflect.Struct {
		return xmlOf(v)
	}
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(fmt.Sprint(v.Interface()))) // a strings.Builder takes everything
	return b.String()
}

// emptyElements writes the texts, lists and structs of a response as empty elements.
func emptyElements(t reflect.Type) string {
	var out strings.Builder
	for f := range t.Fields() {
		of := f.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		outer, _, nested := strings.Cut(f.Tag.Get("xml"), ">")
		if of.Kind() == reflect.String || of.Kind() == reflect.Slice && nested ||
			of.Kind() == reflect.Struct && !awswire.IsTime(of) {
			out.WriteString("<" + outer + "/>")
		}
	}
	return out.String()
}
