package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

const (
	pushBody = `{"ref":"refs/heads/main","after":"6113728f27ae82c7b1a177c8d03f9e96e0adf246",` +
		`"repository":{"full_name":"octo/shop"}}`
	pullBody = `{"action":"opened","pull_request":{"head":{"ref":"fix","sha":"abc"}},` +
		`"repository":{"full_name":"octo/shop"}}`
	labBody = `{"object_kind":"push","ref":"refs/heads/main",` +
		`"checkout_sha":"da1560886d4f094c3e6c9ef40349f7d38b5d27d7","project":{"path_with_namespace":"octo/shop"}}`
)

// connected creates an integration of a kind, and returns the address and the secret of its webhooks.
func (f *fixture) connected(org, kind string) (i receiver.Integration, address, secret string) {
	f.Helper()
	s := receiver.NewIntegrationStore(f.Table, f.Sealer)
	i = receiver.Integration{
		Kind: kind,
		Row:  receiver.Row{ID: id.New(receiver.IntegrationPrefix, f.Clock.Now()), Name: kind, Enabled: true},
	}
	secret = apitest.Value(s.MakeInbound(f.In(org), org, &i))(f)
	f.Must(s.Create(f.In(org), org, &i))
	return i, "/webhooks/" + kind + "?organisation=" + org + "&integration=" + i.ID, secret
}

// received lists the webhooks that an integration has received, the newest first.
func (f *fixture) received(i *receiver.Integration) []receiver.Received {
	f.Helper()
	return apitest.Value(receiver.NewIntegrationStore(f.Table, f.Sealer).LastReceived(f.In(apitest.Org), apitest.Org,
		i.ID,
		50))(f)
}

// post sends a webhook without a caller, with headers in pairs.
func (f *fixture) post(address, body string, headers ...string) apitest.Answer {
	f.Helper()
	r := httptest.NewRequestWithContext(f.Context(), http.MethodPost, address, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for n := 0; n < len(headers); n += 2 {
		r.Header.Set(headers[n], headers[n+1])
	}
	return f.Serve(identity.Caller{}, r)
}

func hubSignature(secret, body string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(h.Sum(nil))
}

// TestGitHub_TheSignatureOfItsDocumentation uses the example of docs.github.com, "Testing the webhook payload
// validation".
func TestGitHub_TheSignatureOfItsDocumentation(t *testing.T) {
	const secret, body = "It's a Secret to Everybody", "Hello, World!"
	const want = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	if !signedByGitHub(secret, want, []byte(body)) {
		t.Error("it is refused")
	}
	for name, sent := range map[string]string{
		"none": "", "without its name": want[7:], "SHA-1": "sha1=" + want[7:], "cut short": want[:len(want)-2],
		"not hexadecimal": "sha256=xyz", "of another body": hubSignature(secret, body+"!"),
		"of another secret": hubSignature(secret+"!", body),
	} {
		if signedByGitHub(secret, sent, []byte(body)) {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestGitHub_WhatComesIsKeptOnce(t *testing.T) {
	f := newFixture(t)
	i, address, secret := f.connected(apitest.Org, receiver.GitHub)
	signature := hubSignature(secret, pushBody)
	headers := []string{
		"X-Hub-Signature-256", signature, "X-GitHub-Event", "push", "X-GitHub-Delivery",
		"72d3162e-cc78-11e3-81ab-4c9367dc0958",
	}
	f.post(address, pushBody, headers...).Want(http.StatusOK, `"duplicate":false`).AtMost(5)
	got := f.received(&i)
	if len(got) != 1 || got[0].Repository != "octo/shop" || got[0].Ref != "refs/heads/main" ||
		got[0].Commit != "6113728f27ae82c7b1a177c8d03f9e96e0adf246" || got[0].Event != "push" ||
		!got[0].At.Equal(f.Clock.Now()) {
		t.Fatalf("%+v", got)
	}
	row := f.LastAudited(apitest.Org)
	if row.Target != i.ID || !strings.Contains(apitest.JSON(row), "github integration "+i.ID) {
		t.Errorf("%+v", row)
	}
	audited := len(f.Audited(apitest.Org))
	f.Clock.Advance(time.Minute)
	f.post(address, pushBody, headers...).Want(http.StatusOK, `"duplicate":true`)
	f.post(address, pushBody, "X-Hub-Signature-256", signature, "X-GitHub-Event", "push", "X-GitHub-Delivery",
		"of the replayer's choice").Want(http.StatusOK, `"duplicate":true`)
	f.post(address, pushBody, "X-Hub-Signature-256", signature).Want(http.StatusOK, `"duplicate":true`)
	f.Equal("rows of the audit log for what came again", len(f.Audited(apitest.Org)), audited)
	f.post(address, pullBody, "X-Hub-Signature-256", hubSignature(secret, pullBody), "X-GitHub-Event", "pull_request",
		"X-GitHub-Delivery", "2").Want(http.StatusOK, `"duplicate":false`)
	if got = f.received(&i); len(got) != 2 || got[0].Ref != "fix" || got[0].Commit != "abc" {
		t.Errorf("%+v", got)
	}
	f.Clock.Advance(receiver.KeepReceived + time.Minute)
	if got = f.received(&i); len(got) != 0 {
		t.Errorf("kept for ever: %+v", got)
	}
}

func TestInbound_WhatIsNotBelievedIsRefusedAlike(t *testing.T) {
	f := newFixture(t)
	i, address, secret := f.connected(apitest.Org, receiver.GitHub)
	lab, labAddress, labSecret := f.connected(apitest.Org, receiver.GitLab)
	_, theirs, _ := f.connected(apitest.OtherOrg, receiver.GitHub)
	off, offAddress, offSecret := f.connected(apitest.OtherOrg, receiver.GitLab)
	next := off
	next.Enabled = false
	f.Must(receiver.NewIntegrationStore(f.Table, f.Sealer).Update(f.In(apitest.OtherOrg), apitest.OtherOrg, &off,
		&next))
	good := hubSignature(secret, pushBody)
	said := map[string]bool{}
	for name, answer := range map[string]apitest.Answer{
		"without a signature": f.post(address, pushBody),
		"of another body":     f.post(address, pullBody, "X-Hub-Signature-256", good),
		"to an unknown integration": f.post("/webhooks/github?organisation="+apitest.Org+"&integration="+
			id.New("int", f.Clock.Now()), pushBody, "X-Hub-Signature-256", good),
		"to what is no integration": f.post("/webhooks/github?organisation="+apitest.Org+
			"&integration=NAME%23github", pushBody, "X-Hub-Signature-256", good),
		"to what is no organization": f.post("/webhooks/github?organisation=x%23y&integration="+i.ID, pushBody,
			"X-Hub-Signature-256", good),
		"to another organization": f.post("/webhooks/github?organisation="+apitest.OtherOrg+"&integration="+
			i.ID, pushBody, "X-Hub-Signature-256", good),
		"to another one's integration": f.post(theirs, pushBody, "X-Hub-Signature-256", good),
		"to one of another kind": f.post(strings.Replace(labAddress, "gitlab?", "github?", 1), pushBody,
			"X-Hub-Signature-256", hubSignature(labSecret, pushBody)),
		"to one that is disabled": f.post(offAddress, labBody, "X-Gitlab-Token", offSecret),
		"with another token":      f.post(labAddress, labBody, "X-Gitlab-Token", secret),
		"with no token":           f.post(labAddress, labBody),
		"with a signature without a time": f.post(labAddress, labBody, "webhook-signature", "v1,x", "X-Gitlab-Token",
			labSecret),
	} {
		answer.Want(http.StatusUnauthorized, `"message"`)
		if said[answer.Body] = true; len(said) > 1 {
			t.Errorf("%s: %v", name, said)
		}
	}
	if n := len(f.received(&i)) + len(f.received(&lab)); n != 0 {
		t.Errorf("%d are kept", n)
	}
	f.post(address, `[]`, "X-Hub-Signature-256", hubSignature(secret, `[]`)).Want(http.StatusBadRequest,
		"application/json")
	f.post("/webhooks/github", pushBody, "X-Hub-Signature-256", good).Want(http.StatusBadRequest, "organisation")
	big := `{"ref":"` + strings.Repeat("x", 1<<20) + `"}`
	f.post(address, big, "X-Hub-Signature-256", hubSignature(secret, big)).Want(http.StatusRequestEntityTooLarge)
	f.post("/webhooks/builds/bld_1", `{}`).Want(http.StatusNotFound, "bld_1")
}

func TestInbound_TextsOfOthersAreCutAndCleaned(t *testing.T) {
	f := newFixture(t)
	i, address, secret := f.connected(apitest.Org, receiver.GitHub)
	body := `{"ref":"a\u0007b\u202ec` + strings.Repeat("x", 1000) + `","repository":{"full_name":"<script>"}}`
	f.post(address, body, "X-Hub-Signature-256", hubSignature(secret, body)).Want(http.StatusOK)
	got := f.received(&i)[0]
	if len([]rune(got.Ref)) > maxText+1 || strings.ContainsAny(got.Ref, "\u0007\u202e") {
		t.Errorf("%q", got.Ref)
	}
}

// TestInbound_AnIdempotencyKeyReplaysNothingToAnotherSignature checks that the answer to a signed webhook is not
// repeated for one with another signature.
func TestInbound_AnIdempotencyKeyReplaysNothingToAnotherSignature(t *testing.T) {
	f := newFixture(t)
	_, address, secret := f.connected(apitest.Org, receiver.GitHub)
	body := `{"ref":"refs/heads/main"}`
	f.post(address, body, "X-Hub-Signature-256", hubSignature(secret, body), "Idempotency-Key", "k").Want(http.StatusOK)
	f.post(address, body, "X-Hub-Signature-256", hubSignature("guess", body), "Idempotency-Key",
		"k").Want(http.StatusConflict, "other headers")
	f.post(address, body, "Idempotency-Key", "k").Want(http.StatusConflict, "other headers")
}

func TestGitLab_ATokenOrASignature(t *testing.T) {
	f := newFixture(t)
	i, address, secret := f.connected(apitest.Org, receiver.GitLab)
	token := []string{"X-Gitlab-Token", secret, "X-Gitlab-Event", "Push Hook"}
	f.post(address, labBody, append(token, "X-Gitlab-Event-UUID", "uuid-1")...).Want(http.StatusOK, `"duplicate":false`)
	f.post(address, labBody, append(token, "X-Gitlab-Event-UUID", "uuid-1")...).Want(http.StatusOK, `"duplicate":true`)
	// caused by the first
	f.post(address, labBody,
		append(token, "X-Gitlab-Event-UUID", "uuid-1", "Idempotency-Key", "key-1")...).Want(http.StatusOK,
		`"duplicate":false`)
	f.post(address, labBody, token...).Want(http.StatusOK, `"duplicate":false`)
	f.post(address, labBody, token...).Want(http.StatusOK, `"duplicate":true`)
	if got := f.received(&i); len(got) != 3 || got[0].Repository != "octo/shop" || got[0].Commit == "" {
		t.Errorf("%+v", got)
	}
	signed := func(at time.Time, messageID, body string) []string {
		w := apitest.Value(standard.NewWebhook(secret))(t)
		signature := apitest.Value(w.Sign(messageID, at, []byte(body)))(t)
		return []string{
			"webhook-id", messageID, "webhook-timestamp", strconv.FormatInt(at.Unix(), 10),
			"webhook-signature", signature,
		}
	}
	now := f.Clock.Now()
	for n, c := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"signed now", signed(now, "m1", labBody), http.StatusOK},
		{"signed almost five minutes ago", signed(now.Add(-maxWebhookAge+time.Second), "m2", labBody), http.StatusOK},
		{"too long ago", signed(now.Add(-maxWebhookAge-time.Second), "m3", labBody), http.StatusUnauthorized},
		{"to come", signed(now.Add(maxWebhookAge+time.Second), "m4", labBody), http.StatusUnauthorized},
		{"of another body", signed(now, "m5", labBody+" "), http.StatusUnauthorized},
		{"under another id", append(signed(now, "m6", labBody), "webhook-id", "m7"), http.StatusUnauthorized},
		{"wrongly, with the token", append(signed(now, "m8", "{}"), "X-Gitlab-Token", secret), http.StatusUnauthorized},
	} {
		t.Run(fmt.Sprint(n, " ", c.name), func(*testing.T) { f.post(address, labBody, c.headers...).Want(c.want) })
	}
	f.post(address, labBody, signed(now, "m1", labBody)...).Want(http.StatusOK, `"duplicate":true`)
}

func TestInbound_OneSenderCannotShutOutAnother(t *testing.T) {
	f := newFixture(t)
	_, address, secret := f.connected(apitest.Org, receiver.GitHub)
	from := func(ip string, headers ...string) apitest.Answer {
		r := httptest.NewRequestWithContext(f.Context(), http.MethodPost, address, strings.NewReader(pushBody))
		r.RemoteAddr = ip + ":1"
		r.Header.Set("Content-Type", "application/json")
		for n := 0; n < len(headers); n += 2 {
			r.Header.Set(headers[n], headers[n+1])
		}
		return f.Serve(identity.Caller{}, r)
	}
	for range perIntegration.Max {
		from("203.0.113.7")
	}
	from("203.0.113.7", "X-Hub-Signature-256", hubSignature(secret, pushBody)).Want(http.StatusTooManyRequests,
		"600").AtMost(2)
	from("203.0.113.8", "X-Hub-Signature-256", hubSignature(secret, pushBody)).Want(http.StatusOK)
	f.Clock.Advance(time.Minute)
	from("203.0.113.7", "X-Hub-Signature-256", hubSignature(secret, pushBody)).Want(http.StatusOK, `"duplicate":true`)
}
