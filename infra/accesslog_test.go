package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/jsii-runtime-go"
)

// contextVariable matches a variable of an access log's format.
var contextVariable = regexp.MustCompile(`\$context\.[\w.]+`)

// formatOf returns the format of the API's access log.
func formatOf(t *testing.T, s stack) string {
	t.Helper()
	for _, api := range resources[struct{ AccessLogSetting map[string][]any }](t, s, "AWS::Serverless::Api") {
		choice := api.AccessLogSetting["Fn::If"]
		if len(choice) == 3 && choice[0] == "LogsAccess" {
			format, _ := choice[1].(map[string]any)["Format"].(string)
			return format
		}
	}
	t.Fatal("the API has no access log on the condition LogsAccess")
	return ""
}

// answers writes the access log's lines of some requests that were answered with a status.
func (d *deployment) answers(status string, requests int) {
	d.t.Helper()
	line := contextVariable.ReplaceAllStringFunc(d.access, func(name string) string {
		if name == "$context.status" {
			return status
		}
		return "-" // as API Gateway writes what a request has not
	})
	for range requests {
		d.logInto("AccessLog", line)
	}
}

// Tokens are in paths of links, in queries of callbacks, and in headers. The route of a path has the names of its
// parameters in their places.
func TestAccessLog_IsJSONWithoutTokens(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	format := formatOf(t, synthesized(t, stages[2]))
	harmless := []string{
		"requestId", "requestTimeEpoch", "identity.sourceIp", "httpMethod", "resourcePath", "status",
		"error.responseType", "authorizer.org", "responseLatency", "responseLength",
	}
	for _, v := range contextVariable.FindAllString(format, -1) {
		if !slices.Contains(harmless, strings.TrimPrefix(v, "$context.")) {
			t.Errorf("the access log writes %s, which may hold a token or break the line: add it to this test when it "+
				"cannot", v)
		}
	}
	var line map[string]string // all are texts: API Gateway writes "-" for a missing value, which is no JSON
	if err := json.Unmarshal([]byte(contextVariable.ReplaceAllString(format, "-")), &line); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	if line["status"] == "" || line["requestID"] == "" || strings.Contains(format, "\n") || len(format) > 3_000 {
		t.Errorf("a line is %v; it is to name the status and the request, in one line of at most 3 kB", line)
	}
}
