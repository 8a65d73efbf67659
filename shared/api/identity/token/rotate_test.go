package token

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/go-jose/go-jose/v4"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
)

var morning = time.Date(2026, time.March, 10, 9, 0, 0, 0, time.UTC)

// keyService is a service with a key file that counts its reads.
type keyService struct {
	*JWTs
	clock *clock.Manual
	path  string
	reads int
}

func newKeyService(t *testing.T) *keyService {
	t.Helper()
	h := &keyService{clock: clock.NewManual(morning), path: filepath.Join(t.TempDir(), "tokens.pem")}
	k, err := OpenKeyFile(h.path, h.clock)
	if err != nil {
		t.Fatal(err)
	}
	k.read = func(path string) ([]byte, error) {
		h.reads++
		return seal.ReadPrivate(path)
	}
	h.JWTs = NewJWTs(k, "https://lamplighter.test", h.clock)
	return h
}

// signToken signs a token that is valid from now on, and returns the ID of its key.
func (h *keyService) signToken(t *testing.T) (token, kid string) {
	t.Helper()
	now := h.clock.Now()
	token, err := h.Sign(context.Background(),
		Claims{User: "usr_1", Session: "s1", ID: "jti_1", Issued: now, Expires: now.Add(TTL)})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		t.Fatal(err)
	}
	return token, signed.Signatures[0].Header.KeyID
}

func (h *keyService) publishedKeys(t *testing.T) string {
	t.Helper()
	b, err := h.JWKS(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (h *keyService) rotateKeys(t *testing.T, urgent bool) (next string) {
	t.Helper()
	states, err := RotateKeyFile(h.path, PlanRotation(h.clock.Now(), urgent))
	if err != nil {
		t.Fatal(err)
	}
	return states[0].ID
}

// check 9, the life of a key: published, signing, accepted, removed.
func TestAKeyIsRotated(t *testing.T) {
	h := newKeyService(t)
	_, first := h.signToken(t)
	next := h.rotateKeys(t, false)
	h.clock.Advance(keyReread)
	if set := h.publishedKeys(t); !strings.Contains(set, first) || !strings.Contains(set, next) {
		t.Errorf("the next key is not published before it signs: %s", set)
	}
	h.clock.Advance(KeyLead - keyReread - time.Second)
	last, kid := h.signToken(t)
	if kid != first {
		t.Error("the next key signs before its time")
	}
	h.clock.Advance(time.Second)
	if _, kid = h.signToken(t); kid != next {
		t.Error("the next key does not sign from its time on")
	}
	h.clock.Advance(TTL + leeway - 2*time.Second)
	if _, err := h.Verify(context.Background(), last); err != nil {
		t.Errorf("the last token of the key before, inside the grace: %v", err)
	}
	h.clock.Advance(KeyGrace - TTL - leeway + time.Second)
	if set := h.publishedKeys(t); !strings.Contains(set, first) {
		t.Error("the key before is gone before its grace is over")
	}
	late := h.forgeToken(t, first) // as if an attacker had kept the private key
	if _, err := h.Verify(context.Background(), late); err != nil {
		t.Errorf("inside the grace: %v", err)
	}
	h.clock.Advance(time.Second)
	if _, err := h.Verify(context.Background(), late); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("after the grace: %v", err)
	}
	if set := h.publishedKeys(t); strings.Contains(set, first) || !strings.Contains(set, next) {
		t.Errorf("after the grace, published is %s", set)
	}
	if _, kid = h.signToken(t); kid != next {
		t.Error("the new key does not sign any more")
	}
}

// forgeToken signs a token with the key of the ID, regardless of its times.
func (h *keyService) forgeToken(t *testing.T, kid string) string {
	t.Helper()
	k := h.keys.(*KeyFile)
	for i := range k.private {
		if k.private[i].public.KeyID == kid {
			now := h.clock.Now()
			alone := NewJWTs(only{k.private[i]}, "https://lamplighter.test", h.clock)
			token, err := alone.Sign(context.Background(),
				Claims{User: "usr_1", Session: "s1", ID: "jti_2", Issued: now, Expires: now.Add(TTL)})
			if err != nil {
				t.Fatal(err)
			}
			return token
		}
	}
	t.Fatal("no such key")
	return ""
}

// only is a keyring of one key.
type only struct{ edKey }

func (o only) Signing(context.Context) (SigningKey, error) { return o.edKey, nil }

func (o only) Accepted(context.Context) (jose.JSONWebKeySet, error) {
	return jose.JSONWebKeySet{Keys: []jose.JSONWebKey{o.public}}, nil
}

// check 9: many unknown keys do not cause more reads of the set.
func TestUnknownKeysDoNotMakeTheFileBeRead(t *testing.T) {
	h, stranger := newKeyService(t), newKeyService(t)
	for i := range 1000 {
		token, _ := stranger.signToken(t)
		if _, err := h.Verify(context.Background(), token); !fault.Is(err, fault.Unauthenticated) {
			t.Fatal(err)
		}
		h.clock.Advance(29 * time.Millisecond)
		stranger.clock.Advance(29 * time.Millisecond)
		if i == 500 && h.reads != 0 {
			t.Errorf("%d reads in %s", h.reads, 500*29*time.Millisecond)
		}
	}
	if h.reads > 1 {
		t.Errorf("the file was read %d times in half a minute", h.reads)
	}
}

// check 9, with keys in KMS: their public parts are read once.
func TestUnknownKeysDoNotMakeKMSBeAsked(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		fmt.Fprintf(w, `{"KeyId":"k","KeySpec":"ECC_NIST_P256","PublicKey":%q}`, base64.StdEncoding.EncodeToString(der))
	}))
	defer srv.Close()
	cfg := aws.Config{
		Region: "eu-west-1", BaseEndpoint: &srv.URL,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	}
	stranger := newKeyService(t)
	ring, err := NewKMSKeys(cfg, stranger.clock, "arn:aws:kms:eu-west-1:1:key/k")
	if err != nil {
		t.Fatal(err)
	}
	tokens := NewJWTs(ring, "https://lamplighter.test", stranger.clock)
	for range 1000 {
		token, _ := stranger.signToken(t)
		if _, err := tokens.Verify(context.Background(), token); !fault.Is(err, fault.Unauthenticated) {
			t.Fatal(err)
		}
	}
	if asked != 1 {
		t.Errorf("KMS was asked %d times; want once", asked)
	}
}

func TestAnUrgentRotation(t *testing.T) {
	h := newKeyService(t)
	old, first := h.signToken(t)
	next := h.rotateKeys(t, true)
	if _, kid := h.signToken(t); kid != first {
		t.Error("the file was read again too soon")
	}
	h.clock.Advance(keyReread)
	if _, kid := h.signToken(t); kid != next {
		t.Error("the new key does not sign at once")
	}
	if _, err := h.Verify(context.Background(), old); err != nil {
		t.Errorf("what was signed before: %v", err)
	}
	r := PlanRotation(h.clock.Now(), true)
	r.End = r.Now
	if _, err := RotateKeyFile(h.path, r); err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(keyReread)
	if _, err := h.Verify(context.Background(), old); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("what a revoked key has signed: %v", err)
	}
}

func TestRotationsInARow(t *testing.T) {
	h := newKeyService(t)
	ids := map[string]bool{}
	for range 20 {
		ids[h.rotateKeys(t, false)] = true
		h.clock.Advance(40 * time.Minute)
		_, kid := h.signToken(t)
		if !strings.Contains(h.publishedKeys(t), kid) {
			t.Error("it signs with a key that is not published")
		}
	}
	states, err := KeyStates(h.path, h.clock.Now())
	if err != nil || len(ids) != 20 || len(states) > 5 {
		t.Errorf("%d keys are in the file, %v", len(states), err)
	}
	current := 0
	for _, s := range states {
		if s.State == "current" {
			current++
		}
	}
	if current != 1 || states[0].State != "next" {
		t.Errorf("states %+v", states)
	}
	if info, err := os.Stat(h.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(h.path), ".new-key-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestAFileThatGoesBadIsAnErrorUntilItIsGood(t *testing.T) {
	h := newKeyService(t)
	token, _ := h.signToken(t)
	good, err := os.ReadFile(h.path)
	if err != nil {
		t.Fatal(err)
	}
	for name, harm := range map[string]func() error{
		"gone":             func() error { return os.Remove(h.path) },
		"cut short":        func() error { return os.WriteFile(h.path, good[:40], 0o600) },
		"readable by more": func() error { return os.Chmod(h.path, 0o644) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := harm(); err != nil {
				t.Fatal(err)
			}
			h.clock.Advance(keyReread)
			if _, err := h.Verify(context.Background(), token); err == nil || fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%v; want an error of ours, not of the token's", err)
			}
			os.Remove(h.path)
			if err := os.WriteFile(h.path, good, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := h.Verify(context.Background(), token); err != nil {
				t.Errorf("put right: %v", err)
			}
		})
	}
}

func TestRotatingWhatIsNotThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.pem")
	if _, err := RotateKeyFile(path, PlanRotation(morning, false)); err == nil {
		t.Error("a key file was made of nothing")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it is there")
	}
}

func TestTheTimesOfKMSKeys(t *testing.T) {
	for _, bad := range []string{
		"@2026-03-10T09:00:00Z", "arn:aws:kms:eu-west-1:1:key/a@tomorrow",
		"arn:aws:kms:eu-west-1:1:key/a@",
	} {
		if _, err := NewKMSKeys(aws.Config{}, clock.NewManual(morning), bad); err == nil ||
			!strings.Contains(err.Error(), "2026-03-10T09:00:00Z") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	k := keySchedule{keys: []timedKey{
		{from: time.Time{}},
		{from: morning},
		{from: morning},
		{from: morning.Add(time.Hour)},
	}}
	for _, tt := range []struct {
		at   time.Time
		want int
	}{{morning.Add(-time.Second), 0}, {morning, 1}, {morning.Add(59 * time.Minute), 1}, {morning.Add(time.Hour), 3}} {
		if got, err := k.signing(tt.at); got != tt.want || err != nil {
			t.Errorf("at %s key %d signs, %v; want %d", tt.at, got, err, tt.want)
		}
	}
	if _, err := (&keySchedule{keys: []timedKey{{from: morning}}}).signing(morning.Add(-time.Second)); err == nil {
		t.Error("a key signs before its time when there is no other")
	}
}
