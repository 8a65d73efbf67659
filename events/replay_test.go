// Package events holds a sample for every kind of trigger, named <function>.<case>.json. Its tests replay each of
// them against the built bootstrap of its function through the Lambda Runtime API, and keep the figures of the
// builds.
package events_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/lambdaemulator"
)

var update = flag.Bool("update", false, "write the golden answers anew")

const issuer = "https://api.example.com"

// pepperName is the name of the pepper in Secrets Manager.
const pepperName = "pepper"

// anchorsName is the name of the bucket of the anchors of the audit log.
const anchorsName = "anchors"

// environment returns the environment variables that the templates give a function, with AWS at endpoint.
func environment(endpoint string) []string {
	return []string{
		"AWS_ENDPOINT_URL=" + endpoint, "LAMPLIGHTER_TABLE=lamplighter", "LAMPLIGHTER_STAGE=dev",
		"LAMPLIGHTER_VERSION=sample",
		"LAMPLIGHTER_PEPPER_FROM=" + pepperName, "LAMPLIGHTER_BASE_URL=" + issuer,
		"LAMPLIGHTER_SIMULATED=true",
		"LAMPLIGHTER_FUNCTION_PREFIX=lamplighter-dev-",
		"LAMPLIGHTER_MACHINES=" + strings.Join(functions.Machines(functions.All()), ","),
		"LAMPLIGHTER_PARTITIONS=CA,META",
		"LAMPLIGHTER_MACHINE_PREFIX=arn:aws:states:eu-west-1:123456789012:stateMachine:lamplighter-dev-",
		"LAMPLIGHTER_SECRETS_KEY=arn:aws:kms:eu-west-1:123456789012:key/secrets",
		"LAMPLIGHTER_SIGNING_KEYS=arn:aws:kms:eu-west-1:123456789012:key/tokens",
		"LAMPLIGHTER_ANCHOR_KEYS=arn:aws:kms:eu-west-1:123456789012:key/tokens",
		"LAMPLIGHTER_ANCHORS=" + anchorsName,
	}
}

// signToken returns an access token, signed by the account's key, for the next minute.
func signToken(t *testing.T, endpoint string) string {
	t.Helper()
	cfg := aws.Config{
		Region: "eu-west-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	}
	now := clock.System{}.Now()
	ring, err := token.NewKMSKeys(cfg, clock.System{}, "arn:aws:kms:eu-west-1:123456789012:key/tokens")
	if err != nil {
		t.Fatal(err)
	}
	tok, err := token.NewJWTs(ring, issuer, clock.System{}).
		Sign(t.Context(),
			token.Claims{User: user, Org: org, Session: session, ID: "jti", Issued: now, Expires: now.Add(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestEverySampleIsAnsweredByTheBuiltFunction(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: no function was built and no sample replayed")
	}
	samples, err := filepath.Glob("*.json")
	if err != nil {
		t.Fatal(err)
	}
	if err = buildAll(); err != nil {
		t.Fatal(err)
	}
	endpoint := newAccount(t)
	seen := map[string]bool{}
	for _, sample := range samples {
		function, _, _ := strings.Cut(sample, ".")
		seen[function] = true
		t.Run(strings.TrimSuffix(sample, ".json"), func(t *testing.T) {
			event, err := os.ReadFile(sample)
			if err != nil {
				t.Fatal(err)
			}
			event = bytes.ReplaceAll(event, []byte("${TOKEN}"), []byte(signToken(t, endpoint)))
			golden(t, filepath.Join("testdata", sample), replay(t, function, endpoint, event))
		})
	}
	functions, err := functionNames()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range functions {
		if !seen[name] {
			t.Run(name, func(t *testing.T) { isGroup(t, name, replay(t, name, endpoint, []byte(stray))) })
		}
	}
}

// stray is a request for a path that no group has.
const stray = `{"httpMethod":"GET","path":"/no/such/path","headers":{},"multiValueHeaders":{},` +
	`"requestContext":{"requestId":"stray"}}`

// isGroup checks that a function without a sample is an operation group, which needs none: it answers 404 to stray.
func isGroup(t *testing.T, name string, answer []byte) {
	t.Helper()
	var got struct {
		StatusCode int    `json:"statusCode"`
		Body       string `json:"body"`
	}
	if err := json.Unmarshal(answer, &got); err != nil || got.StatusCode != http.StatusNotFound ||
		!strings.Contains(got.Body, "not found") {
		t.Errorf("function %s is no operation group and has no sample: add events/%s.<what>.json; to a stray request "+
			"it said\n%s", name, name, answer)
	}
}

// replay sends event to the built function and returns its answer, or its error, as indented JSON.
func replay(t *testing.T, function, endpoint string, event []byte) []byte {
	t.Helper()
	f, err := lambdaemulator.StartFunction(bootstrap(t, function), environment(endpoint)...)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out, err := f.Invoke(ctx, event)
	if failure, ok := errors.AsType[*lambdaemulator.Failure](err); ok {
		out, err = json.Marshal(failure)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, f.Log())
	}
	var pretty bytes.Buffer
	if err = json.Indent(&pretty, out, "", "  "); err != nil {
		t.Fatalf("the answer is no JSON: %v: %s", err, out)
	}
	return append(pretty.Bytes(), '\n')
}

// golden compares got with the file at path, or writes it with -update.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%swant (%s; -update writes it anew)\n%s", got, path, want)
	}
}
