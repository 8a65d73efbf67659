package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

const rulesUsage = `usage: lamplighter rules test FILE...
       lamplighter rules plan [-url URL] [-prune] FILE...
       lamplighter rules plan [-url URL] -restore VERSION
       lamplighter rules apply [-url URL] PLAN
       lamplighter rules prove [-url URL] RECOMMENDATION
       lamplighter rules prove [-rules FILE] FILE

test checks files of own rules and overrides, in YAML or JSON, and tries their fixtures, on this machine.
plan sends the files, and prints what they would open and close. It changes nothing.
apply puts a plan into force. A plan can be applied for 24 hours, while rules and resources are as they were.
prove evaluates the rule of a recommendation on its stored evidence, on this machine. A FILE is the answer of
GET /recommendations/{recID}.

plan, apply and prove send the token of the environment variable LAMPLIGHTER_TOKEN, a personal access token.
`

// runRules runs `lamplighter rules`.
func runRules(ctx context.Context, args []string, stdout io.Writer) error {
	if asked, err := printAsked(args, rulesUsage, stdout); asked {
		return err
	}
	if len(args) == 0 {
		return errCommand("lamplighter rules", args)
	}
	switch args[0] {
	case "test":
		return testRules(args[1:], stdout)
	case "plan":
		return planRules(ctx, args[1:], stdout)
	case "apply":
		return applyRules(ctx, args[1:], stdout)
	case "prove":
		return proveRule(ctx, args[1:], stdout)
	}
	return errCommand("lamplighter rules", args)
}

// testRules checks files on this machine.
func testRules(args []string, stdout io.Writer) error {
	f := newCommandFlags("lamplighter rules test")
	f.operands = "FILE..."
	if err := f.parseArgs(args, stdout); err != nil {
		return ignoreHelp(err)
	}
	if f.NArg() == 0 {
		return errors.New("rules test wants files of rules: run lamplighter rules test -help")
	}
	d, err := readRuleFiles(f.Args())
	if err != nil {
		return err
	}
	if err = condition.NewCatalogue().CheckDocument(&d, clock.System{}.Now()); err != nil {
		return errors.New(fault.Message(err))
	}
	d.Sort()
	for i := range d.Rules {
		if _, err = fmt.Fprintln(stdout, "ok", d.Rules[i].ID); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(stdout, "%d rules and %d overrides are correct\n", len(d.Rules), len(d.Overrides))
	return err
}

// readRuleFiles reads files of own rules and overrides.
func readRuleFiles(paths []string) (all rule.Document, err error) {
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return all, fmt.Errorf("read rules: %w", err)
		}
		d, err := condition.ReadDocument(text)
		if err != nil {
			return all, fmt.Errorf("%s: %s", path, fault.Message(err))
		}
		all.Add(d)
	}
	return all, nil
}

// ruleService is the service that plans and applies rules.
type ruleService struct {
	url, token string
	http       *http.Client
	clock      sleeper
}

// sleeper waits between two questions.
type sleeper interface {
	Sleep(ctx context.Context, d time.Duration) error
}

// tokenVariable holds the token: other users of the machine see the flags of every process.
const tokenVariable = "LAMPLIGHTER_TOKEN" //nolint:gosec // a name

// flags defines the flags that name the service.
func (s *ruleService) flags(f *flag.FlagSet) {
	f.StringVar(&s.url, "url", envOr("LAMPLIGHTER_URL", "http://127.0.0.1:8080"),
		"address of the service (LAMPLIGHTER_URL); the token is in "+tokenVariable)
}

// open checks the address and reads the token.
func (s *ruleService) open() error {
	u, err := url.Parse(s.url)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("-url is %.100q; it must be an address such as https://lamps.example.com", s.url)
	}
	if u.Scheme == "http" && loopback(net.JoinHostPort(u.Hostname(), "80")) != nil {
		return fmt.Errorf("-url is %.100q; a token is sent by https only, except to this machine", s.url)
	}
	if s.token = os.Getenv(tokenVariable); s.token == "" {
		return fmt.Errorf("there is no token: set %s to a personal access token, which POST /personal-access-tokens "+
			"makes", tokenVariable)
	}
	s.url = strings.TrimSuffix(s.url, "/")
	s.http, s.clock = &http.Client{Timeout: time.Minute}, clock.System{}
	return nil
}

// maxAnswer is the size of the largest answer that is read, in bytes.
const maxAnswer = 16 << 20

// call sends a request, and decodes the answer: its data, or all of it if it has no envelope.
func (s *ruleService) call(ctx context.Context, request string, body, out any) error {
	method, path, _ := strings.Cut(request, " ")
	var sent io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode the body of %s: %w", request, err)
		}
		sent = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, sent)
	if err != nil {
		return fmt.Errorf("%s: %w", request, err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := s.http.Do(req)
	if err != nil {
		return fmt.Errorf("%s is not reached: %w; name the service with -url", s.url, err)
	}
	defer res.Body.Close() //nolint:errcheck // it is read to its end
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the answer to %s: %w", request, err)
	}
	if res.StatusCode >= http.StatusMultipleChoices {
		return errAnswer(request, res.StatusCode, answer)
	}
	return decodeAnswer(request, answer, out)
}

// errAnswer returns the error of an answer that is no success.
func errAnswer(request string, status int, answer []byte) error {
	var said struct {
		Error json.RawMessage `json:"error"`
	}
	var detail struct {
		Message string `json:"message"`
	}
	text := ""
	if json.Unmarshal(answer, &said) == nil && json.Unmarshal(said.Error, &detail) == nil {
		text = detail.Message
	} else if json.Unmarshal(said.Error, &text) != nil {
		text = fmt.Sprintf("%.200s", answer)
	}
	hint := ""
	if status == http.StatusUnauthorized {
		hint = "; is the token of " + tokenVariable + " still valid?"
	}
	return fmt.Errorf("%s answers %d: %s%s", request, status, fault.CleanText(text, 1000), hint)
}

// decodeAnswer decodes the member data of an answer, or all of it.
func decodeAnswer(request string, answer []byte, out any) error {
	var envelope struct {
		Data json.RawMessage `json:"data"`
	}
	if json.Unmarshal(answer, &envelope) == nil && len(envelope.Data) > 0 {
		answer = envelope.Data
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%s: the answer is not of this service: %w", request, err)
	}
	return nil
}
