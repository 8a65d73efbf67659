package main

import (
	"cmp"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"lamplighter.dev/shared/testkit/clouds/awswire"
)

// Names of answers, and the words in those that are errors.
const (
	full          = "full"
	numberedError = "error with a number"
	message       = "the message"
)

// answers returns the possible answers of the service to an operation: out in full, in part and empty, and its
// errors.
func (s service) answers(op string, out any) []awswire.Answer {
	var list answerList
	switch s.protocol() {
	case "json":
		list.addJSON(out)
		list.addJSONErrors(s.codes(op))
		list.addVendors(s.dir() + "/response_snapshot/" + op + ".response.snap")
	default:
		b := xmlBody{s.protocol(), op}
		list.addXML(b, reflect.ValueOf(out).Elem())
		list.addXMLErrors(b, s.codes(op))
	}
	return list
}

type answerList []awswire.Answer

func (l *answerList) add(name string, status int, body string) {
	*l = append(*l, awswire.Answer{Name: name, Status: status, Body: body})
}

func (l *answerList) addWithHeader(a awswire.Answer, header, value string) {
	a.Header = map[string]string{header: value}
	*l = append(*l, a)
}

func (l *answerList) addJSON(out any) {
	b, err := json.Marshal(out)
	if err != nil {
		log.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(b, &members); err != nil {
		log.Fatal(err)
	}
	l.add(full, http.StatusOK, string(b))
	members["zUnknown"] = map[string]any{"a": []any{1, map[string]any{"b": nil}}}
	more, _ := json.Marshal(members)
	l.add("full with unknown members", http.StatusOK, string(more))
	for name := range members {
		members[name] = nil
	}
	nulls, _ := json.Marshal(members)
	l.add("nulls", http.StatusOK, string(nulls))
	l.add("nothing in it", http.StatusOK, "{}")
	l.add("no body", http.StatusOK, "")
	l.add("not JSON", http.StatusOK, "<html>")
}

func (l *answerList) addJSONErrors(codes []string) {
	for _, c := range append(codes, "ThrottlingException", "UndeclaredException") {
		l.add("error "+c, http.StatusBadRequest, `{"__type":"com.amazonaws.x#`+c+`","message":"`+message+`"}`)
	}
	l.addWithHeader(awswire.Answer{
		Name: "error in the header", Status: http.StatusNotFound,
		Body: `{"Message":"` + message + `"}`,
	}, "X-Amzn-ErrorType", "UndeclaredException:http://internal.amazon.com/coral/")
	l.addWithHeader(awswire.Answer{
		Name: "error in the query header", Status: http.StatusBadRequest,
		Body: `{"__type":"UndeclaredException","message":"` + message + `"}`,
	}, "X-Amzn-Query-Error", "AWS.Other;Sender")
	l.add("error as code", http.StatusForbidden, `{"code":"UndeclaredException","message":"`+message+`"}`)
	l.add(numberedError, http.StatusBadRequest, `{"code":42,"message":"`+message+`"}`)
	l.add("error without a body", http.StatusInternalServerError, "")
	l.add("error that is not JSON", http.StatusServiceUnavailable, "<html>busy</html>")
}

// addVendors adds the answer that comes with the SDK's package, if it has one.
func (l *answerList) addVendors(path string) {
	if _, body, ok := strings.Cut(source(path), "\n\n"); ok {
		l.add("the vendor's own", http.StatusOK, body)
	}
}

func (l *answerList) addXML(b xmlBody, out reflect.Value) {
	if b.protocol == "restxml" { // the only member is the root
		out = out.Field(0).Elem()
	}
	inner := xmlOf(out)
	whole := b.wrap(inner)
	l.add(full, http.StatusOK, whole)
	l.add("full with unknown elements", http.StatusOK,
		b.wrap("\n  <zUnknown><item>1<a/></item></zUnknown>"+strings.ReplaceAll(inner, "><", ">\n  <")))
	l.add("nothing in it", http.StatusOK, b.wrap(""))
	l.add("empty elements", http.StatusOK, b.wrap(emptyElements(out.Type())))
	l.add("no body", http.StatusOK, "")
	l.add("not XML", http.StatusOK, "{}")
	l.add("cut off", http.StatusOK, whole[:len(whole)-len(inner)/2-40])
}

func (l *answerList) addXMLErrors(b xmlBody, codes []string) {
	for _, c := range append(codes, "Throttling", "UndeclaredFault") {
		l.add("error "+c, http.StatusBadRequest, b.failure(c, message))
	}
	l.add("error without a message", http.StatusBadRequest, b.failure("UndeclaredFault", ""))
	l.add("error without a body", http.StatusInternalServerError, "")
	l.add("error that is not XML", http.StatusServiceUnavailable, "{}")
	l.add("error of a proxy", http.StatusBadGateway, "<html><body>bad gateway</body></html>")
}

// dir returns the folder of the SDK's package in the module cache.
func (s service) dir() string {
	cache := cmp.Or(os.Getenv("GOMODCACHE"), filepath.Join(os.Getenv("HOME"), "go/pkg/mod"))
	found, _ := filepath.Glob(cache + "/github.com/aws/aws-sdk-go-v2/service/" + s.name + "@*")
	if len(found) == 0 {
		log.Fatalf("the SDK's package %s is not in %s", s.name, cache)
	}
	return slices.Max(found)
}

func source(path string) string {
	b, _ := os.ReadFile(path) // the packages do not all have the same files
	return string(b)
}

var errorMethod = regexp.MustCompile(`func \(e \*(\w+)\) ErrorCode\(`)

// codes returns the error codes that the API declares for an operation; where the package does not tell, those of all.
func (s service) codes(op string) []string {
	pattern, src := errorMethod, source(s.dir()+"/types/errors.go")
	if d := source(s.dir() + "/deserializers.go"); d != "" {
		begin := regexp.MustCompile(`(?m)^func \w+_deserializeOpError` + op + `\(`).FindStringIndex(d)
		src, _, _ = strings.Cut(d[begin[0]:], "\n}\n")
		pattern = regexp.MustCompile(`EqualFold\("([^"]+)", errorCode\)`)
	}
	var out []string
	for _, m := range pattern.FindAllStringSubmatch(src, -1) {
		out = append(out, m[1])
	}
	return out
}

// protocol returns "ec2", "query", "restxml" or "json".
func (s service) protocol() string {
	src := source(s.dir() + "/deserializers.go")
	for prefix, name := range map[string]string{
		"awsEc2query_": "ec2", "awsAwsquery_": "query", "awsRestxml_": "restxml",
	} {
		if strings.Contains(src, prefix) {
			return name
		}
	}
	return "json"
}
