package testenv

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/functions/auth"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/people/erasure"
)

// Password is the password of every test user.
const Password = "correct horse battery 42"

// patience is the longest wait for background work of the service.
const patience = 90 * time.Second

func withCancel(t testing.TB) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(context.WithoutCancel(t.Context()))
}

// Client is a client of the service that fails the test on an unexpected answer.
type Client struct {
	*local.Client
	t   testing.TB
	env *Env
	Org string
}

// NewClient returns a client without a credential.
func (e *Env) NewClient() *Client {
	return &Client{Client: local.NewClient(e.URL), t: e.t, env: e}
}

// NewOwner returns a verified user in an organization of their own. The user is made as an operator makes one,
// without a sign-up.
func (e *Env) NewOwner(email string) *Client {
	e.t.Helper()
	if _, err := auth.CreateVerifiedUser(e.t.Context(), e.Platform, email, Password, "Test"); err != nil {
		e.t.Fatal(err)
	}
	c := e.NewClient()
	c.LogIn(email, "")
	var org struct {
		ID string `json:"id"`
	}
	c.Call(http.MethodPost, "/organisations", map[string]string{"name": "Org of " + email}, &org)
	c.LogIn(email, org.ID)
	return c
}

// LogIn logs in, into the organization org, or into the first one if org is empty.
func (c *Client) LogIn(email, org string) {
	c.t.Helper()
	orgs, err := c.Login(c.t.Context(), email, Password, org)
	if err != nil {
		c.t.Fatal(err)
	}
	if c.Org = org; org == "" && len(orgs) > 0 {
		c.Org = orgs[0]
	}
}

// Call makes a request that must succeed, and decodes its data into out unless that is nil.
func (c *Client) Call(method, path string, in, out any) {
	c.t.Helper()
	if err := c.Do(c.t.Context(), method, path, in, out); err != nil {
		c.t.Fatal(err)
	}
}

// CallRefused makes a request that must be answered with the status, and returns the body.
func (c *Client) CallRefused(status int, method, path string, in any) string {
	c.t.Helper()
	err := c.Do(c.t.Context(), method, path, in, nil)
	e, ok := errors.AsType[*local.StatusError](err)
	if !ok || e.Status != status {
		c.t.Fatalf("%s %s: got %v, want %d", method, path, err, status)
	}
	return e.Body
}

// Reconnect returns the same client of the service after a restart.
func (c *Client) Reconnect() *Client {
	again := *c
	again.Client = local.NewClient(c.env.URL)
	again.Token = c.Token
	return &again
}

// Eventually calls done every 20 ms until it returns true, and fails the test after 90 s. It is for the loops of the
// service, which run on the machine's clock, and for other servers. Requests that done makes count towards the
// organization's 100 a minute; WaitSettled and WaitForCode make none.
func (e *Env) Eventually(what string, done func() bool) {
	e.t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			e.t.Fatalf("waited %s in vain: %s", patience, what)
		}
	}
}

// WaitSettled waits until no action, bulk action, discovery or import runs. It does not wait for erasures, for uploads
// without a file, for plans before their event, for remediation workflows, or for rebuilds of costs, which start
// minutes after a change. It reads the store, because an organization has only 100 requests a minute.
func (e *Env) WaitSettled() {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(table.Within(e.t.Context(), workqueue.Prefix), patience)
	defer cancel()
	e.Eventually("an end of all work", func() bool { // a sweep may restart lost work
		if err := e.AwaitIdle(ctx, erasure.Machine, billimport.UploadMachine, readiness.Machine,
			remediation.Machine); err != nil {
			e.t.Fatal(err)
		}
		for shard := range workqueue.Shards {
			page, err := e.Platform.Table.Query(ctx, table.Query{PK: workqueue.PK(shard), Limit: 1000})
			if err != nil {
				e.t.Fatal(err)
			}
			works, err := table.DecodeAll[workqueue.Work](page.Items)
			if err != nil {
				e.t.Fatal(err)
			}
			if slices.ContainsFunc(works, isAwaited) {
				return false
			}
		}
		return true
	})
}

// isAwaited reports whether work ends soon without a further request.
func isAwaited(w workqueue.Work) bool {
	return w.Machine != erasure.Machine && w.Machine != billimport.UploadMachine && w.Machine != readiness.Machine &&
		w.Machine != remediation.Machine && // a proposal waits for a person
		!strings.HasPrefix(w.ID, billimport.RebuildPrefix) && !strings.HasPrefix(w.ID, billimport.AttributionPrefix)
}

// WaitForCode waits for a mail with a six-digit code to the address, and returns the newest code.
func (e *Env) WaitForCode(email string) string {
	e.t.Helper()
	announced := regexp.MustCompile(`(?m)^mail to ` + regexp.QuoteMeta(email) + `: .*\b(\d{6})\b`)
	var code string
	e.Eventually("a code for "+email, func() bool {
		all := announced.FindAllStringSubmatch(e.mails.String(), -1)
		if len(all) > 0 {
			code = all[len(all)-1][1]
		}
		return code != ""
	})
	return code
}
