package aws_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// answer is the body of a response of moto, XML or JSON.
type answer string

// all returns the texts of the elements, or of the JSON members, of the name.
func (a answer) all(name string) []string {
	var out []string
	found := regexp.MustCompile(`(?:<`+name+`>|"`+name+`": ?")([^<"]*)[<"]`).FindAllStringSubmatch(string(a), -1)
	for _, m := range found {
		out = append(out, m[1])
	}
	return out
}

// text returns the first of all.
func (a answer) text(s seeder, name string) string {
	s.t.Helper()
	all := a.all(name)
	if len(all) == 0 {
		s.t.Fatalf("moto's answer has no %s: %s", name, a)
	}
	return all[0]
}

// form calls an API with forms: "rds:CreateDBInstance" and its parameters, names and values in turn.
func (s seeder) form(call, version string, pairs ...string) answer {
	s.t.Helper()
	api, action, _ := strings.Cut(call, ":")
	v := url.Values{"Action": {action}, "Version": {version}}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return s.send(api, http.MethodPost, "/", "application/x-www-form-urlencoded", []byte(v.Encode()))
}

// json calls an API with JSON, which identifies its operations by the target.
func (s seeder) json(api, target string, in any) answer {
	s.t.Helper()
	r := s.request(api, http.MethodPost, "/", encoded(s, in))
	r.Header.Set("Content-Type", "application/x-amz-json-1.1")
	r.Header.Set("X-Amz-Target", target)
	return s.do(r)
}

// rest calls an API that identifies its operations by method and path: "eks POST /clusters".
func (s seeder) rest(call string, in any) answer {
	s.t.Helper()
	f := strings.Fields(call)
	return s.send(f[0], f[1], f[2], "application/json", encoded(s, in))
}

func encoded(s seeder, in any) []byte {
	s.t.Helper()
	b, err := json.Marshal(in)
	s.succeeded("encode", err)
	return b
}

func (s seeder) send(api, method, path, contentType string, body []byte) answer {
	s.t.Helper()
	r := s.request(api, method, path, body)
	r.Header.Set("Content-Type", contentType)
	return s.do(r)
}

// request names the service in the signature, because moto selects the service by it. moto does not check the
// signature.
func (s seeder) request(api, method, path string, body []byte) *http.Request {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.ctx, method, *s.cfg.BaseEndpoint+path, bytes.NewReader(body))
	s.succeeded("make a request", err)
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/"+s.cfg.Region+"/"+api+
		"/aws4_request, SignedHeaders=host, Signature=0")
	return r
}

func (s seeder) do(r *http.Request) answer {
	s.t.Helper()
	resp, err := http.DefaultClient.Do(r)
	s.succeeded("call", err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	s.succeeded("read", err)
	if resp.StatusCode >= http.StatusMultipleChoices {
		s.t.Fatalf("moto: %s: %s", resp.Status, b)
	}
	return answer(b)
}

// object is a JSON object in a request.
type object map[string]any
