package sso

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/foundation/fault"
)

// domain is a mail domain that an organization claims. Token is the expected TXT record. It is not secret, because
// only the operator of the domain's DNS can publish it.
type domain struct {
	Name     string    `json:"name"`
	Token    string    `json:"token"`
	Verified time.Time `json:"verified,omitzero"`
	Reason   string    `json:"reason,omitempty"` // why the last check did not prove it
}

func (d domain) isVerified() bool { return !d.Verified.IsZero() }

func (d domain) txtName() string { return "_lamplighter-challenge." + d.Name }

func (d domain) txtValue() string { return "lamplighter-domain-verification=" + d.Token }

func (d domain) describe() Domain {
	out := Domain{
		Name: d.Name, Verified: d.isVerified(), TXTName: d.txtName(), TXTValue: d.txtValue(),
		Reason: d.Reason,
	}
	if d.isVerified() {
		out.VerifiedAt = &d.Verified
	}
	return out
}

// findOrAddDomains returns the domains with these names in normalized form, and adds those that are not in have.
func findOrAddDomains(names []string, have []domain) ([]domain, error) {
	out := make([]domain, 0, len(names))
	for _, raw := range names {
		name, err := parseDomain(raw)
		if err != nil {
			return nil, err
		}
		same := func(d domain) bool { return d.Name == name }
		if slices.ContainsFunc(out, same) {
			continue
		}
		d := domain{Name: name, Token: strings.ToLower(rand.Text())}
		if i := slices.IndexFunc(have, same); i >= 0 {
			d = have[i]
		}
		out = append(out, d)
	}
	return out, nil
}

// parseDomain normalizes a mail domain, and refuses domains that cannot belong to an organization.
func parseDomain(raw string) (string, error) {
	name, err := emailDomain("x@" + strings.TrimSuffix(strings.TrimSpace(raw), "."))
	if err != nil {
		return "", fault.NewWithCause(
			fault.Invalid, err, "domains: %.64q is not a domain name; write it as example.com", raw)
	}
	if suffix, _ := publicsuffix.PublicSuffix(name); suffix == name || mailProviders[name] {
		return "", fault.New(fault.Invalid, "domains: %s belongs to many, not to one organization", name)
	}
	return name, nil
}

// emailDomain returns the part of an address after the @.
func emailDomain(email string) (string, error) {
	address, err := identity.NormalizeAddress(email)
	_, name, _ := strings.Cut(address, "@")
	return name, err
}

// mailProviders are providers that offer mailboxes to the public. Their customers cannot publish a record there; this
// list is a second safeguard.
var mailProviders = func() map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(`
		126.com 163.com aol.com fastmail.com gmail.com gmx.com gmx.de gmx.net googlemail.com hey.com
		hotmail.co.uk hotmail.com hotmail.de hotmail.fr icloud.com laposte.net libero.it live.com mac.com
		mail.com mail.ru me.com msn.com naver.com orange.fr outlook.com outlook.de outlook.fr pm.me posteo.de
		proton.me protonmail.com qq.com rediffmail.com rocketmail.com seznam.cz sina.com t-online.de tuta.com
		tutanota.com web.de wp.pl ya.ru yahoo.co.jp yahoo.co.uk yahoo.com yahoo.de yahoo.fr yandex.com yandex.ru
		ymail.com zoho.com`) {
		out[name] = true
	}
	return out
}()

const (
	lookupTimeout      = 3 * time.Second // one question to DNS
	lookupTries        = 2
	maxParallelLookups = 5 // domains that are asked for at once
)

// checkDomains looks up in DNS the proof of each unproven domain, and records the results. It returns the domains
// that can now be claimed.
func (s service) checkDomains(ctx context.Context, ds []domain) []*domain {
	found := make([]bool, len(ds))
	free := make(chan struct{}, maxParallelLookups)
	var wg sync.WaitGroup
	for i := range ds {
		if ds[i].isVerified() {
			continue
		}
		free <- struct{}{}
		wg.Go(func() {
			found[i], ds[i].Reason = s.checkTXTRecord(ctx, ds[i])
			<-free
		})
	}
	wg.Wait()
	var out []*domain
	for i := range ds {
		if found[i] {
			out = append(out, &ds[i])
		}
	}
	return out
}

// checkTXTRecord reports whether the record of d is in DNS, and if not, the reason.
func (s service) checkTXTRecord(ctx context.Context, d domain) (bool, string) {
	var records []string
	var err error
	for range lookupTries {
		if records, err = s.lookUpTXT(ctx, d.txtName()); !isRetryable(err) {
			break
		}
	}
	missing, _ := errors.AsType[*net.DNSError](err)
	switch {
	case err == nil && slices.Contains(records, d.txtValue()):
		return true, ""
	case err == nil && len(records) > 0:
		return false, "the TXT record has another text: publish the one shown, then check again"
	case err == nil || missing != nil && missing.IsNotFound:
		return false, "there is no TXT record yet: publish the one shown, then check again"
	}
	return false, "DNS did not answer: check again later"
}

func (s service) lookUpTXT(ctx context.Context, name string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	return s.Resolver.LookupTXT(ctx, name)
}

// isRetryable reports whether a DNS query is worth another try.
func isRetryable(err error) bool {
	e, ok := errors.AsType[*net.DNSError](err)
	return ok && (e.IsTimeout || e.IsTemporary) && !e.IsNotFound
}
