package rest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// An Idempotency-Key keeps one answer for a day. The claim of a running request expires, so that a crash does not lock
// the key. It lasts longer than the gateway's 29 seconds.
const (
	keyHeader = "Idempotency-Key"
	keptFor   = 24 * time.Hour
	claimFor  = time.Minute
	maxKept   = 300_000 // bytes; an item holds 400,000, and base64 adds a third to the compressed answer
)

// kept is the item of a key. Claim is the request that runs or ran. Print distinguishes requests without containing
// them, so that neither a password of a body nor a token of an answer is stored in clear.
type kept struct {
	Print  string `json:"print"`
	Claim  string `json:"claim"`
	Done   bool   `json:"done,omitempty"`
	Answer []byte `json:"answer,omitempty"` // sealed; empty if it was too large to keep
}

// replayOrRun runs the operation, or sends the kept answer to the same request.
func (s *server) replayOrRun(x *exchange, c identity.Caller) {
	keys := x.r.Header[keyHeader]
	if x.r.Method != http.MethodPost || len(keys) == 0 || x.operation().Credentials {
		x.runOperation(x)
		return
	}
	if len(keys) > 1 || !isPrintable(keys[0]) {
		x.refuseRequest(errorForStatus(x.operation(), http.StatusBadRequest,
			keyHeader+": send one value of 1 to 255 printable characters"))
		return
	}
	k := s.key(x, c, keys[0])
	old, err := k.claim(x.r.Context())
	switch {
	case err != nil:
		noteFailure(x.r.Context(), err)
		x.refuseRequest(errorForStatus(x.operation(), http.StatusInternalServerError, "internal error"))
	case old != nil:
		k.repeat(x, old)
	default:
		k.run(x)
	}
}

func isPrintable(v string) bool {
	n := 0
	for _, r := range v {
		if n++; r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return n >= 1 && n <= 255
}

// key is one use of an Idempotency-Key.
type key struct {
	s      *server
	at     table.Key
	public bool // the item is outside of any organization
	// key of the kept answer; it is derived from the request, so that only a repeat of the request can open it
	opener []byte
	row    kept
}

// key returns the caller's key for this path. Public operations, and callers without organization, have a partition for
// each key. The name of the item, the print of the body and the key of the answer are derived from the request with a
// secret that is not in the store. A user with single sign-on counts as another caller than the same user without,
// because an answer may contain information about other organizations.
func (s *server) key(x *exchange, c identity.Caller, value string) *key {
	who := c.User
	if c.SSO {
		who = "sso " + who
	}
	secret := computeMAC(s.p.Settings.Pepper, who, x.r.URL.EscapedPath(), value)
	query, body := x.r.URL.Query().Encode(), string(x.body)+x.declaredHeaders()
	name := encodeText(computeMAC(secret, "name"))
	k := &key{
		s: s, at: table.Key{PK: "IDEM#" + name, SK: "K"}, public: c.Org == "",
		opener: computeMAC(secret, "opener", query, body),
	}
	if !k.public {
		k.at = table.Key{PK: table.OrgPK(c.Org) + "IDEM", SK: name}
	}
	k.row = kept{Print: encodeText(computeMAC(secret, "print", query, body)), Claim: id.New("req", s.clock.Now())}
	return k
}

// declaredHeaders returns the headers that the operation reads, such as a signature. Requests with different ones are
// different.
func (x *exchange) declaredHeaders() string {
	var b strings.Builder
	for _, p := range x.route.hop.Parameters {
		if p.In == "header" && p.Name != keyHeader {
			fmt.Fprintf(&b, "\n%s: %q", p.Name, x.r.Header.Values(p.Name))
		}
	}
	return b.String()
}

func computeMAC(secret []byte, values ...string) []byte {
	h := hmac.New(sha256.New, secret)
	for _, v := range values {
		fmt.Fprintf(h, "%d:%s", len(v), v)
	}
	return h.Sum(nil)
}

func encodeText(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// claim claims the key, or returns the item of the request that has it.
func (k *key) claim(ctx context.Context) (*kept, error) {
	err := k.write(ctx, claimFor, table.Absent())
	c, lost := errors.AsType[*table.ConditionError](err)
	if !lost {
		return nil, err
	}
	was, _ := c.Old(0)
	if was.Data == nil { // it expired between the engine's check and this one
		return &kept{Print: k.row.Print}, nil
	}
	old, err := table.Decode[kept](was)
	return &old, err
}

func (k *key) write(ctx context.Context, lasts time.Duration, cond table.Cond) error {
	item, err := table.NewItem(k.at, k.row)
	if err != nil {
		return err
	}
	item.Expires = k.s.clock.Now().Add(lasts)
	_, err = k.s.p.Table.Write(k.scope(ctx), table.Put(item, cond))
	return err
}

// scope permits the partition of a public operation's key.
func (k *key) scope(ctx context.Context) context.Context {
	if k.public {
		return table.Within(ctx, k.at.PK)
	}
	return ctx
}

// repeat answers a request whose key is taken.
func (k *key) repeat(x *exchange, old *kept) {
	switch {
	case old.Print != k.row.Print:
		x.refuseRequest(errorForStatus(x.operation(), http.StatusConflict,
			keyHeader+": this key was used with another body or other headers; use a new key"))
	case !old.Done:
		x.refuseRequest(errorForStatus(x.operation(), http.StatusConflict,
			keyHeader+": the first request with this key is still running; try again later"))
	case old.Answer == nil:
		x.refuseRequest(errorForStatus(x.operation(), http.StatusConflict,
			keyHeader+": this request was carried out, but its answer was too large to be kept"))
	default:
		k.replay(x, old.Answer)
	}
}

func (k *key) replay(x *exchange, sealed []byte) {
	was, err := openReply(k.opener, sealed)
	if err != nil {
		noteFailure(x.r.Context(), err)
		sendFailure(x, errorForStatus(x.operation(), http.StatusInternalServerError, "internal error"))
		return
	}
	x.Header().Set("Idempotency-Replayed", "true")
	was.sendReply(x)
}

// run runs the operation with an answer in memory, keeps the answer, and sends it. After a failure of the service it
// releases the key, so that the client can try again.
func (k *key) run(x *exchange) {
	ctx := context.WithoutCancel(x.r.Context()) // even if the client disconnects, the key must not stay claimed
	rec := &recording{reply{Header: http.Header{}}}
	finished := false
	defer func() {
		if !finished {
			k.release(ctx)
		}
	}()
	x.runOperation(rec)
	finished = true
	if rec.Status >= http.StatusInternalServerError || rec.Status == http.StatusTooManyRequests ||
		rec.Status == http.StatusUnauthorized {
		k.release(ctx)
	} else if err := k.keepWithout(ctx, x.operation().ShownOnce, &rec.reply); err != nil {
		k.s.log.WarnContext(ctx, "answer not kept", slog.String("request_id", x.id), slog.String("error", err.Error()))
	}
	rec.sendReply(x)
}

func (k *key) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	w := table.Delete(k.at, table.Equal("claim", k.row.Claim))
	if _, err := k.s.p.Table.Write(k.scope(ctx), w); err != nil {
		k.s.log.WarnContext(ctx, "claim not given back", slog.String("error", err.Error()))
	}
}

// keepWithout keeps the answer without the secret that is shown once.
func (k *key) keepWithout(ctx context.Context, shownOnce string, r *reply) error {
	if shownOnce == "" || r.Status >= http.StatusBadRequest {
		return k.keep(ctx, r)
	}
	kept, err := r.withEmpty(shownOnce)
	if err != nil {
		return err
	}
	return k.keep(ctx, kept)
}

func (k *key) keep(ctx context.Context, r *reply) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	sealed, err := r.sealReply(k.opener)
	if err != nil {
		return err
	}
	k.row.Done, k.row.Answer = true, sealed
	return k.write(ctx, keptFor, table.Equal("claim", k.row.Claim))
}
