// Package maildomain holds the mail domains that organizations have proven to be theirs. Single sign-on trusts an
// organization's identity provider about these domains only. A domain is proven by a TXT record, which must stay: it is
// looked up again each week, and a domain whose record is missing for a week lapses.
package maildomain

import "time"

// Domain is a mail domain that an organization claims. Token is the expected text of the TXT record. It is not secret,
// because only the operator of the domain's DNS can publish it.
type Domain struct {
	Name     string    `json:"name"`
	Token    string    `json:"token"`
	Verified time.Time `json:"verified,omitzero"` // when it was proven
	Reason   string    `json:"reason,omitempty"`  // why the last check did not prove it
	Checked  time.Time `json:"checked,omitzero"`  // when the record was last found after that
	Missing  time.Time `json:"missing,omitzero"`  // since when the record of a proven domain is missing
	Warned   time.Time `json:"warned,omitzero"`   // when the owners were last told that it is missing
}

const (
	// CheckInterval is how often a proven domain is looked up again.
	CheckInterval = 7 * 24 * time.Hour
	// Grace is how long the record of a proven domain may be missing before the domain lapses.
	Grace = 7 * 24 * time.Hour
	// WarnInterval is how often the owners are told in that time.
	WarnInterval = 24 * time.Hour
	// drift is how much earlier than an interval says a daily run may come.
	drift = 6 * time.Hour
)

// IsVerified reports whether the organization has proven the domain, and it has not lapsed.
func (d Domain) IsVerified() bool { return !d.Verified.IsZero() }

// TXTName returns the name of the TXT record that proves the domain.
func (d Domain) TXTName() string { return "_lamplighter-challenge." + d.Name }

// TXTValue returns the text of the TXT record that proves the domain.
func (d Domain) TXTValue() string { return "lamplighter-domain-verification=" + d.Token }

// Lapses returns the time from when on the domain lapses if its record stays missing, or the zero time.
func (d Domain) Lapses() time.Time {
	if d.Missing.IsZero() {
		return time.Time{}
	}
	return d.Missing.Add(Grace)
}

// IsDue reports whether a proven domain is to be looked up again: each week, and at every run while its record is
// missing.
func (d Domain) IsDue(now time.Time) bool {
	last := d.Verified
	if d.Checked.After(last) {
		last = d.Checked
	}
	return d.IsVerified() && (!d.Missing.IsZero() || now.Sub(last) >= CheckInterval-drift)
}

// Outcome is the effect of a lookup on a proven domain.
type Outcome int

// The outcomes.
const (
	Unchanged Outcome = iota
	Kept              // the record is there
	Warning           // the record is missing, and the owners are to be told
	Lapsed            // the record was missing for Grace: the domain is no longer proven
)

// Settle applies the result of a lookup to a proven domain. Without an answer of DNS the domain neither begins to miss
// its record nor lapses.
func (d *Domain) Settle(r Result, now time.Time) Outcome {
	switch {
	case r.Found:
		d.Checked, d.Missing, d.Warned, d.Reason = now, time.Time{}, time.Time{}, ""
		return Kept
	case r.Absent && !d.Missing.IsZero() && !now.Before(d.Lapses()):
		d.Verified, d.Checked, d.Missing, d.Warned = time.Time{}, time.Time{}, time.Time{}, time.Time{}
		d.Reason = "the domain has lapsed, because its TXT record was missing for a week: publish it, then check again"
		return Lapsed
	case r.Absent && d.Missing.IsZero():
		d.Missing = now
	case d.Missing.IsZero():
		return Unchanged
	}
	if r.Absent {
		d.Reason = r.Reason
	}
	if now.Sub(d.Warned) < WarnInterval-drift {
		return Unchanged
	}
	d.Warned = now
	return Warning
}
