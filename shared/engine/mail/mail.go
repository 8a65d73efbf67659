// Package mail queues and sends mails. A mail is an item in an outbox partition, written in the same transaction as what
// it tells about; functions/mailer takes it from there to a Sender. What is in it is sealed, for it carries codes.
package mail

// Secret is the kind of secret that a waiting mail is sealed as.
const Secret = "mail"

// Template names the text of a mail.
type Template string

// The templates, with the keys that they want in Mail.Data. Whoever gives a name to something, or signs up with somebody
// else's address, could write that person a message through it: so subjects take none, and texts repeat one only without
// what makes it an address to click on.
const (
	VerifyAddress   Template = "verify_address"   // code
	VerifyContested Template = "verify_contested" // code
	AccountExists   Template = "account_exists"
	ResetPassword   Template = "reset_password" // code
	PasswordChanged Template = "password_changed"
	SessionReused   Template = "session_reused"
	Invitation      Template = "invitation"     // organisation: its name; inviter: an e-mail address
	TokenExpiring   Template = "token_expiring" // #nosec G101 -- name: of a personal access token; expires: a date
	ProviderAdded   Template = "provider_added"
	ReceiverFailing Template = "receiver_failing" // kind: of receiver, in our words; name: as somebody called it; id
	// what: lines, each what has become of something whose maker has lost a right
	RightsEnded Template = "rights_ended"
	// DisconnectionsWaiting has name and id of a cloud organisation, and in digits waiting and connected: how many of its accounts.
	DisconnectionsWaiting Template = "disconnections_waiting"
	Notification          Template = "notification" // none: Mail.Letter is the text
	// is not sent: it lets a request for an unknown address cost what one for a known address costs
	Nothing Template = "nothing"
)

// Mail is one mail to be sent.
type Mail struct {
	Template Template          `json:"template"`
	To       string            `json:"to"` // in the form of identity.NormalizeAddress
	Data     map[string]string `json:"data"`
	// Letter is the text of a mail that no template writes.
	Letter *Letter `json:"letter,omitempty"`
	// Org is the organization that the mail is sent for; none when it is about its recipient. The queue of one organization
	// does not stand before that of another.
	Org string `json:"-"`
}

// Letter is a mail as it was written: in plain text and in HTML, with nothing in it that a name of somebody's opened.
type Letter struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
	// an https address at which one POST ends mails as this one (RFC 8058)
	Unsubscribe string `json:"unsubscribe,omitempty"`
}
