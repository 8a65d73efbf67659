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

// An Idempotency-Key holds one answer for a day. The claim of a request that is still running ends by itself, so that a
// crash does not lock the key; it outlives the gateway's 29 seconds.
const (
	keyHeader = "Idempotency-Key"
	keptFor   = 24 * time.Hour
	claimFor  = time.Minute
	maxKept   = 300_000 // bytes; an item holds 400,000, and base64 adds a third of what was compressed
)

// kept is the row of a key. Claim is the request that runs or ran; Print tells requests apart without holding them, so
// neither a password in a body nor a token in an answer stands in the store in clear.
type kept struct {
	Print  string `json:"print"`
	Claim  string `json:"claim"`
	Done   bool   `json:"done,omitempty"`
	Answer []byte `json:"answer,omitempty"` // sealed; empty when it was too large to keep
}

// replayOrRun runs the operation, or gives the answer that the same request got before.
func (s *server) replayOrRun(x *exchange, c identity.Caller) {
	keys := x.r.Header[keyHeader]
	if x.r.Method != http.MethodPost || len(keys) == 0 || x.operation().Credentials {
		x.runOperation(x)
		return
	}
	if len(keys) > 1 || !printable(keys[0]) {
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

func printable(v string) bool {
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
	public bool   // the row lies outside any organization
	opener []byte // seals and opens the answer; it is made of the request, so only who repeats the request can open it
	row    kept
}

// key finds the row of the caller's key for this path. Public operations, and callers who belong to no organization, have
// a partition of their own for each key. Everything is derived from what the client sent, under a secret that no row
// holds: the name of the row, what tells another body apart, and what opens the answer. A user for whom an identity
// provider vouches is another caller than the same user otherwise: an answer may tell of other organizations.
func (s *server) key(x *exchange, c identity.Caller, value string) *key {
	who := c.User
	if c.SSO {
		who = "sso " + who
	}
	secret := mac(s.p.Settings.Pepper, who, x.r.URL.EscapedPath(), value)
	query, body := x.r.URL.Query().Encode(), string(x.body)+x.declaredHeaders()
	name := text(mac(secret, "name"))
	k := &key{s: s, at: table.Key{PK: "IDEM#" + name, SK: "K"}, public: c.Org == "",
		opener: mac(secret, "opener", query, body)}
	if !k.public {
		k.at = table.Key{PK: table.OrgPK(c.Org) + "IDEM", SK: name}
	}
	k.row = kept{Print: text(mac(secret, "print", query, body)), Claim: id.New("req", s.clock.Now())}
	return k
}

// declaredHeaders returns the headers that the operation reads, such as a signature: with others, a request is another one.
func (x *exchange) declaredHeaders() string {
	var b strings.Builder
	for _, p := range x.route.hop.Parameters {
		if p.In == "header" && p.Name != keyHeader {
			fmt.Fprintf(&b, "\n%s: %q", p.Name, x.r.Header.Values(p.Name))
		}
	}
	return b.String()
}

func mac(secret []byte, values ...string) []byte {
	h := hmac.New(sha256.New, secret)
	for _, v := range values {
		fmt.Fprintf(h, "%d:%s", len(v), v)
	}
	return h.Sum(nil)
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// claim takes the key, or tells who has it.
func (k *key) claim(ctx context.Context) (*kept, error) {
	err := k.write(ctx, claimFor, table.Absent())
	c, lost := errors.AsType[*table.ConditionError](err)
	if !lost {
		return nil, err
	}
	was, _ := c.Old(0)
	if was.Data == nil { // it ended between the engine's look and ours
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

// scope lets a public operation's key be touched.
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

// run lets the operation answer into memory, keeps the answer, and sends it. An operation that failed for reasons of ours
// gives the key back, so that the client's next try is a new one.
func (k *key) run(x *exchange) {
	ctx := context.WithoutCancel(x.r.Context()) // the client may go; the key must not stay claimed
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

// keepWithout keeps the answer without the secret that it shows once.
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
