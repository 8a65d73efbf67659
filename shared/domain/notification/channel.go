// Package notification finds the people who asked to be told of an event: by channels with their subscriptions, by
// mail that users have switched on, and by the configurations that existed before channels. It writes the message, as
// a mail or for a chat, of one event or of several events of one key as a digest, and hands it to each receiver. Text
// of users is text in all forms: never markup, a mention or a link.
package notification

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

// Type is where a channel leads.
type Type string

// The types of channels, as the contract names them.
const (
	Slack      Type = "slack"
	Teams      Type = "teams"
	GoogleChat Type = "gchat"
	Email      Type = "email"
)

// The bounds of an organization.
const (
	MaxChannels      = 1_000
	MaxPersonal      = 20 // channels that a user makes whose grants are on teams or resources
	MaxSubscriptions = 100_000
	MaxLegacy        = 100
	MaxBulk          = 500 // subscriptions of one request
	maxName          = 128 // characters
)

// Channel is a place that messages go to. The address of a chat is a credential: it is stored sealed, and shown masked.
type Channel struct {
	ID        string    `json:"id"`
	Type      Type      `json:"type"`
	Name      string    `json:"name"`
	Sealed    []byte    `json:"sealed,omitempty"`    // the address of a chat
	Masked    string    `json:"masked,omitempty"`    // its host and last four characters
	Email     string    `json:"email,omitempty"`     // in the form of identity.NormalizeAddress
	FailingAt time.Time `json:"failingAt,omitzero"`  // since when nothing reaches it; it is tried on
	BrokenAt  time.Time `json:"brokenAt,omitzero"`   // since when it is known that it will never take anything again
	BrokenWhy string    `json:"brokenWhy,omitempty"` // of both
	// the user among whose channels the name is unique; empty: among those of the organization
	Personal string `json:"personal,omitempty"`
	receiver.Made
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
	Generation int64     `json:"generation"` // counts the changes, which each is conditioned on
}

// Broken reports whether the receiver has said that it will never take anything again.
func (c *Channel) Broken() bool { return !c.BrokenAt.IsZero() }

// Status is how a channel stands.
func (c *Channel) Status() string {
	switch {
	case c.Broken():
		return "broken"
	case !c.PausedAt.IsZero():
		return "paused"
	case !c.FailingAt.IsZero():
		return "failing"
	}
	return "ok"
}

// Address is where a channel leads, as it is given: the address of a chat, or of a mailbox.
type Address struct {
	WebhookURL string
	Email      string
}

// hosts are where the vendors take messages; a name with a dot before it stands for all below it.
var hosts = map[Type][]string{
	Slack:      {"hooks.slack.com", "hooks.slack-gov.com"},
	Teams:      {".logic.azure.com", ".api.powerplatform.com", ".webhook.office.com"},
	GoogleChat: {"chat.googleapis.com"},
}

// Rules say which addresses of chats are taken: those of the vendors, and what the operator allows besides.
type Rules struct {
	Hosts   []string         // of chats that are not their vendor's: "chat.example.com", ".example.com" for all below
	Private bool             // the loopback too, for a laptop and tests
	Guard   ssrfguard.Policy // of what may be dialled
}

// Check brings an address into shape, and refuses (fault.Invalid, naming the field) one that a channel of the type
// cannot have. It asks nobody what a name leads to: that is seen when it is dialled.
func (r Rules) Check(of Type, at Address) (Address, error) {
	if of == Email {
		return checkMailbox(at)
	}
	switch {
	case at.Email != "":
		return at, fault.New(
			fault.Invalid, "config.email: a channel of type %s has none; send config.webhookURL alone", of)
	case at.WebhookURL == "":
		return at, fault.New(
			fault.Invalid, "config.webhookURL: it is missing; send the address of the incoming webhook")
	}
	return at, fault.Wrap("check an address", r.checkChat(of, at.WebhookURL))
}

func checkMailbox(at Address) (Address, error) {
	if at.WebhookURL != "" {
		return at, fault.New(fault.Invalid, "config.webhookURL: a channel of type email has none; send "+
			"config.email alone")
	}
	address, err := identity.NormalizeAddress(at.Email)
	if err != nil {
		return at, fault.NewWithCause(fault.Invalid, err, "config.%s", fault.Message(err))
	}
	return Address{Email: address}, nil
}

func (r Rules) checkChat(of Type, raw string) error {
	if strings.ContainsFunc(raw, func(c rune) bool { return c > '~' }) {
		return fault.New(fault.Invalid,
			"config.webhookURL: it has characters that no address has; copy it from the settings of the chat as it is")
	}
	if err := r.Guard.CheckAddress(raw); err != nil {
		return fault.NewWithCause(fault.Invalid, err, "config.webhookURL: %s", fault.Message(err))
	}
	u, err := url.Parse(raw)
	if err != nil {
		return fault.NewWithCause(fault.Invalid, err, "config.webhookURL: the address cannot be read")
	}
	return r.checkChatHost(of, u)
}

// checkChatHost reports whether u is an address of the vendor of the chat, or of a host that the operator allows.
func (r Rules) checkChatHost(of Type, u *url.URL) error {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if r.Private && isLoopback(host) {
		return nil
	}
	vendors := matchesHost(hosts[of], host)
	switch {
	case !vendors && !matchesHost(r.Hosts, host):
		allowed := starred(slices.Concat(hosts[of], r.Hosts))
		return fault.New(fault.Invalid, "config.webhookURL: %.64q is no host of %s; it must be one of %s", host, of,
			strings.Join(allowed, ", "))
	case u.Scheme != "https":
		return fault.New(fault.Invalid, "config.webhookURL: it must begin with https://")
	case vendors && u.Port() != "":
		return fault.New(fault.Invalid,
			"config.webhookURL: %.64q has the port %s; addresses of %s have none: leave it out", u.Host, u.Port(), of)
	}
	return nil
}

// isLoopback reports whether host names the machine itself.
func isLoopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// matchesHost reports whether host is one of names, or is below one that begins with a dot.
func matchesHost(names []string, host string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return isAllowedHost(host, n) })
}

// isAllowedHost reports whether host is the allowed one, or is below it where the allowed one begins with a dot.
func isAllowedHost(host, allowed string) bool {
	domain, below := strings.CutPrefix(allowed, ".")
	return host == allowed || below && host != domain && ssrfguard.IsWithinDomain(host, domain)
}

// starred spells hosts as people do: "*.example.com" for all below.
func starred(hosts []string) []string {
	out := slices.Clone(hosts)
	for i, h := range out {
		if strings.HasPrefix(h, ".") {
			out[i] = "*" + h
		}
	}
	return out
}

// mask tells where an address leads without giving it away: its host, and the last four characters.
func mask(raw string) string {
	const shown = 4
	u, err := url.Parse(raw)
	if err != nil {
		return "…"
	}
	tail := strings.TrimPrefix(raw, u.Scheme+"://"+u.Host)
	if len(tail) < 4*shown { // too short for a part of it to be no secret
		tail = ""
	}
	return u.Scheme + "://" + u.Host + "/…" + tail[max(len(tail)-shown, 0):]
}

// CleanName brings the name of a channel into shape; fault.Invalid names the field.
func CleanName(name string) (string, error) { return displayname.CleanName("name", name, maxName) }
