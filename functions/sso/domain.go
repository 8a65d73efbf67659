package sso

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/maildomain"
)

// domain is a mail domain that an organization claims.
type domain = maildomain.Domain

// describeDomain returns the client's view of a domain.
func describeDomain(d domain) Domain {
	out := Domain{
		Name: d.Name, Verified: d.IsVerified(), TXTName: d.TXTName(), TXTValue: d.TXTValue(), Reason: d.Reason,
	}
	for shown, at := range map[**time.Time]time.Time{
		&out.VerifiedAt: d.Verified, &out.CheckedAt: d.Checked, &out.LapsesAt: d.Lapses(),
	} {
		if !at.IsZero() {
			*shown = &at
		}
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

// checkDomains looks up in DNS the proof of each unproven domain, and of each whose record is missing, and records the
// results. It returns the domains that can now be claimed.
func (s service) checkDomains(ctx context.Context, ds []domain) []*domain {
	var asked []*domain
	var copies []domain
	for i := range ds {
		if d := &ds[i]; !d.IsVerified() || !d.Missing.IsZero() {
			asked, copies = append(asked, d), append(copies, *d)
		}
	}
	var out []*domain
	for i, r := range maildomain.LookUp(ctx, s.Resolver, copies) {
		switch d := asked[i]; {
		case !d.IsVerified():
			if d.Reason = r.Reason; r.Found {
				out = append(out, d)
			}
		case r.Found:
			d.Settle(r, s.Clock.Now())
		}
	}
	return out
}
