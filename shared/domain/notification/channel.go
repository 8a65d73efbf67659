// Package notification finds the receivers of an event: channels by their subscriptions, users who switched mail on,
// and legacy configurations. It writes the message for one event, or a digest of several events with one key, as a
// mail or for a chat, and hands it to each receiver. Text of users stays text in all forms: never markup, a mention
// or a link.
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

// Type is the kind of a channel's destination.
type Type string

// The types of channels, as in the API contract.
const (
	Slack      Type = "slack"
	Teams      Type = "teams"
	GoogleChat Type = "gchat"
	Email      Type = "email"
)

// The limits of an organization.
const (
	MaxChannels      = 1_000
	MaxPersonal      = 20 // personal channels of a user with grants on teams or resources only
	MaxSubscriptions = 100_000
	MaxLegacy        = 100
	MaxBulk          = 500 // subscriptions per request
	maxName          = 128 // characters
)

// Channel is a destination for messages. The address of a chat is a credential: it is stored sealed and shown masked.
type Channel struct {
	ID        string    `json:"id"`
	Type      Type      `json:"type"`
	Name      string    `json:"name"`
	Sealed    []byte    `json:"sealed,omitempty"`    // the address of a chat
	Masked    string    `json:"masked,omitempty"`    // its host and last four characters
	Email     string    `json:"email,omitempty"`     // in the form of identity.NormalizeAddress
	FailingAt time.Time `json:"failingAt,omitzero"`  // when sending began to fail; it is still tried
	BrokenAt  time.Time `json:"brokenAt,omitzero"`   // when the receiver refused all further messages for good
	BrokenWhy string    `json:"brokenWhy,omitempty"` // the reason for FailingAt and BrokenAt
	// the user within whose channels the name is unique; empty: unique within the organization
	Personal string `json:"personal,omitempty"`
	receiver.Made
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
	Generation int64     `json:"generation"` // incremented by each change; each change requires the old value
}

// Broken reports whether the receiver has refused all further messages for good.
func (c *Channel) Broken() bool { return !c.BrokenAt.IsZero() }

// Status returns the state of the channel: ok, failing, paused or broken.
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

// Address is the destination of a channel as given by the user: the address of a chat, or of a mailbox.
type Address struct {
	WebhookURL string
	Email      string
}

// hosts are the hosts of the vendors' webhooks. A name that begins with a dot stands for all its subdomains.
var hosts = map[Type][]string{
	Slack:      {"hooks.slack.com", "hooks.slack-gov.com"},
	Teams:      {".logic.azure.com", ".api.powerplatform.com", ".webhook.office.com"},
	GoogleChat: {"chat.googleapis.com"},
}

// Rules says which addresses of chats are accepted: those of the vendors, and additional hosts that the operator
// allows.
type Rules struct {
	Hosts   []string         // additional hosts: "chat.example.com", ".example.com" for all subdomains
	Private bool             // also allow the loopback, for a laptop and tests
	Guard   ssrfguard.Policy // restricts the IP addresses to dial
}

// Check normalizes an address. It returns fault.Invalid, naming the field, for an address that a channel of the type
// cannot have. It does not resolve names; the guard checks IP addresses when a connection is dialled.
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

// checkChatHost returns an error unless u is on a host of the chat's vendor or on a host that the operator allows.
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

// isLoopback reports whether host names the local machine.
func isLoopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// matchesHost reports whether host equals one of names, or is a subdomain of a name that begins with a dot.
func matchesHost(names []string, host string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return isAllowedHost(host, n) })
}

// isAllowedHost reports whether host equals allowed, or is a subdomain of it when allowed begins with a dot.
func isAllowedHost(host, allowed string) bool {
	domain, below := strings.CutPrefix(allowed, ".")
	return host == allowed || below && host != domain && ssrfguard.IsWithinDomain(host, domain)
}

// starred returns hosts in the usual notation: "*.example.com" for all subdomains.
func starred(hosts []string) []string {
	out := slices.Clone(hosts)
	for i, h := range out {
		if strings.HasPrefix(h, ".") {
			out[i] = "*" + h
		}
	}
	return out
}

// mask returns an address without its secret: its host and the last four characters.
func mask(raw string) string {
	const shown = 4
	u, err := url.Parse(raw)
	if err != nil {
		return "…"
	}
	tail := strings.TrimPrefix(raw, u.Scheme+"://"+u.Host)
	if len(tail) < 4*shown { // too short to show a part of it
		tail = ""
	}
	return u.Scheme + "://" + u.Host + "/…" + tail[max(len(tail)-shown, 0):]
}

// CleanName normalizes the name of a channel. The error is fault.Invalid and names the field.
func CleanName(name string) (string, error) { return displayname.CleanName("name", name, maxName) }
