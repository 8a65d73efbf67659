package auth

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/sessions"
)

// standing tells whether a client has logged in to an account before. Each standing has limits of its own, so that the
// guesses of strangers do not keep the owner out.
type standing int

const (
	stranger    standing = iota
	knownSource          // the account was entered from this network address lately
	knownDevice          // the client has the cookie of a device that has entered the account
)

const (
	deviceTTL    = 180 * 24 * time.Hour // since the last log-in of the device
	sourceTTL    = 30 * 24 * time.Hour  // since the last log-in from the source
	maxDevices   = 20                   // of an account
	maxSources   = 20
	deviceMark   = "lampd_"
	deviceCookie = "lamplighter_device_"
	// absentAccount is read if an address has no account, so that the number of reads does not tell whether it has one.
	absentAccount = "usr_nobody"
)

// client is the client of a request, from the point of view of the account of an address.
type client struct {
	standing
	address string // keyed hash of the address
	source  string // network source
	device  string // known device: the hash that identifies it
	epoch   int64  // User.Epoch: it changes with a reset of the password
}

// who returns the text under which the client is counted in its standing. Strangers are counted together, wherever they
// come from.
func (c client) who() string { return c.address + " " + c.device }

// place returns the text under which requests of the client's place are counted.
func (c client) place() string { return c.address + " " + cmp.Or(c.device, c.source) }

// knownClients are the devices and sources that have entered an account since its password was reset.
type knownClients struct {
	Epoch   int64          `json:"epoch"`
	Version int64          `json:"version"`
	Devices []deviceRecord `json:"devices"`
	Sources []sourceRecord `json:"sources"`
}

// deviceRecord is a device by the hashes of its newest token and of the token that it has shown last, which it still
// has if the answer with the newest one was lost.
type deviceRecord struct {
	Hash     string `json:"hash"`
	Previous string `json:"previous,omitempty"`
	Returned bool   `json:"returned,omitempty"` // it has shown a token again, so it keeps cookies
	At       int64  `json:"at"`                 // Unix seconds of its last log-in
}

type sourceRecord struct {
	Hash string `json:"hash"`
	At   int64  `json:"at"`
}

func knownClientsKey(user string) table.Key {
	return table.Key{PK: identity.UserKey(cmp.Or(user, absentAccount)).PK, SK: "KNOWN"}
}

func (s *service) deviceHash(user, token string) string {
	return identity.Digest(s.Settings.CodeKey(), "device", user, token)
}

func (s *service) sourceHash(user, source string) string {
	return identity.Digest(s.Settings.Pepper, "source", user, source)
}

// identifyClient returns the client of the request, for the account u of the address or for no account. It takes one
// round trip in each case.
func (s *service) identifyClient(ctx context.Context, address string, u identity.User) (client, error) {
	c := client{
		address: identity.Digest(s.Settings.Pepper, "email", address), source: requestSource(ctx), epoch: u.Epoch,
	}
	known, err := s.readKnownClients(ctx, u)
	if err != nil {
		return c, err
	}
	now := s.Clock.Now()
	if i, _ := s.findDevice(ctx, u, known); i >= 0 && now.Unix()-known.Devices[i].At < int64(deviceTTL.Seconds()) {
		c.standing, c.device = knownDevice, known.Devices[i].Hash
		return c, nil
	}
	hash := s.sourceHash(u.ID, c.source)
	if slices.ContainsFunc(known.Sources, func(r sourceRecord) bool {
		return c.source != "" && r.Hash == hash && now.Unix()-r.At < int64(sourceTTL.Seconds())
	}) {
		c.standing = knownSource
	}
	return c, nil
}

// readKnownClients returns the known clients of u.
func (s *service) readKnownClients(ctx context.Context, u identity.User) (knownClients, error) {
	known, err := table.Read[knownClients](ctx, s.Table, knownClientsKey(u.ID))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return known, fmt.Errorf("read known clients of %s: %w", u.ID, err)
	}
	return known.since(u), nil
}

// since returns k without the clients of before the last reset of the password of u.
func (k knownClients) since(u identity.User) knownClients {
	if k.Epoch != u.Epoch {
		return knownClients{Epoch: u.Epoch, Version: k.Version}
	}
	return k
}

// findDevice returns the index of the device whose cookie the request has, or -1, and the hash of the cookie's token.
func (s *service) findDevice(ctx context.Context, u identity.User, known knownClients) (int, string) {
	for _, token := range rest.CookieValues(ctx, s.deviceCookieName(u.Email)) {
		hash := s.deviceHash(u.ID, token)
		i := slices.IndexFunc(known.Devices, func(d deviceRecord) bool { return d.Hash == hash || d.Previous == hash })
		if i >= 0 {
			return i, hash
		}
	}
	return -1, ""
}

// deviceCookieName returns the name of the cookie of a user, so that several users of a browser each have their own. It
// does not reveal the address.
func (s *service) deviceCookieName(address string) string {
	return deviceCookie + identity.Digest(s.Settings.Pepper, "device-cookie", address)[:16]
}

// maxRemembered is how often rememberClient starts again because another log-in was faster.
const maxRemembered = 3

// remembering returns a handler that runs h, which logs a user in, and then makes the client known to the account.
func remembering[I any](s *service, h func(context.Context, *I) (sessions.LoggedIn, error)) func(context.Context, *I) (
	sessions.LoggedIn, error,
) {
	return func(ctx context.Context, in *I) (sessions.LoggedIn, error) {
		out, err := h(ctx, in)
		if err == nil {
			s.rememberClient(ctx, out.User.ID)
		}
		return out, err
	}
}

// rememberClient makes the client of the request known to the account of the user, which it has entered, and gives it a
// new token of the device. A failure is logged and does not fail the request. Two round trips.
func (s *service) rememberClient(ctx context.Context, user string) {
	ctx = table.WithoutAttachment(table.Within(ctx, identity.UserPrefix))
	token := deviceMark + rand.Text()
	var u identity.User
	var err error
	for range maxRemembered {
		if u, err = s.storeKnownClient(ctx, user, token); !fault.Is(err, fault.Conflict) {
			break
		}
	}
	if err != nil {
		s.Log.ErrorContext(ctx, "a client was not remembered", "user", user, "error", err.Error())
		return
	}
	rest.SetCookie(ctx, s.newDeviceCookie(u.Email, token))
}

func (s *service) storeKnownClient(ctx context.Context, user, token string) (identity.User, error) {
	u, known, err := s.readClientsAndUser(ctx, user)
	if err != nil {
		return u, err
	}
	cond := table.Equal("version", known.Version)
	if known.Version == 0 {
		cond = table.Absent()
	}
	known.Version++
	next := deviceRecord{Hash: s.deviceHash(u.ID, token), At: s.Clock.Now().Unix()}
	var i int
	if i, next.Previous = s.findDevice(ctx, u, known); i >= 0 {
		next.Returned = true
		known.Devices = slices.Delete(known.Devices, i, i+1)
	}
	known.addDevice(next)
	if source := requestSource(ctx); source != "" {
		known.addSource(s.sourceHash(u.ID, source), s.Clock.Now())
	}
	put, err := table.PutFields(knownClientsKey(u.ID), known, cond)
	if err != nil {
		return u, err
	}
	put.Changes = append(put.Changes, table.Expire(s.Clock.Now().Add(deviceTTL)))
	_, err = s.Table.Write(ctx, put)
	return u, fault.Wrap("remember client of "+u.ID, err)
}

// readClientsAndUser returns a user and the user's known clients, in one round trip.
func (s *service) readClientsAndUser(ctx context.Context, user string) (u identity.User, known knownClients,
	err error,
) {
	rows, err := s.Table.BatchGet(ctx, identity.UserKey(user), knownClientsKey(user))
	if err != nil {
		return u, known, fmt.Errorf("read known clients of %s: %w", user, err)
	}
	if u, err = table.Decode[identity.User](rows[identity.UserKey(user)]); err != nil {
		return u, known, err
	}
	if row, found := rows[knownClientsKey(user)]; found {
		known, err = table.Decode[knownClients](row)
	}
	return u, known.since(u), err
}

// addDevice adds a device. Above the maximum, the devices that never came back go first: a program that keeps no
// cookies must not displace browsers.
func (k *knownClients) addDevice(next deviceRecord) {
	k.Devices = slices.DeleteFunc(k.Devices, func(d deviceRecord) bool {
		return next.At-d.At >= int64(deviceTTL.Seconds())
	})
	if len(k.Devices) >= maxDevices {
		i := k.displacedDevice()
		k.Devices = slices.Delete(k.Devices, i, i+1)
	}
	k.Devices = append(k.Devices, next)
}

// displacedDevice returns the index of the device that is forgotten for another one. The list is in the order of the
// last log-ins.
func (k *knownClients) displacedDevice() int {
	return max(0, slices.IndexFunc(k.Devices, func(d deviceRecord) bool { return !d.Returned }))
}

func (k *knownClients) addSource(hash string, now time.Time) {
	k.Sources = slices.DeleteFunc(k.Sources, func(r sourceRecord) bool {
		return r.Hash == hash || now.Unix()-r.At >= int64(sourceTTL.Seconds())
	})
	if len(k.Sources) >= maxSources {
		k.Sources = slices.Delete(k.Sources, 0, 1)
	}
	k.Sources = append(k.Sources, sourceRecord{hash, now.Unix()})
}

// newDeviceCookie returns the cookie with a token of a device. Scripts cannot read it, other sites cannot have it sent,
// and only the operations under /auth get it. It goes over plain HTTP only where the service itself does.
func (s *service) newDeviceCookie(address, token string) *http.Cookie {
	path := ""
	if base, err := url.Parse(s.Settings.BaseURL); err == nil {
		path = base.EscapedPath()
	}
	return &http.Cookie{ // #nosec G124 -- Secure is false only where the service has an http address
		Name: s.deviceCookieName(address), Value: token, Path: path + "/auth", MaxAge: int(deviceTTL.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: !strings.HasPrefix(s.Settings.BaseURL, "http://"),
	}
}
