// Package mail queues and sends mails. A mail is an item in an outbox partition, written in the same transaction as the
// change that it reports. functions/mailer passes it from there to a Sender. Its content is sealed because it may
// contain codes.
package mail

// Secret is the kind of place that a queued mail is sealed for.
const Secret = "mail"

// Template names the text of a mail.
type Template string

// The templates, with the keys of Mail.Data that they need. All have besides page: the address of the service's page,
// or "". A user who names something, or signs up with another person's address, could send that person a message
// through the name. So subjects contain no names, and texts contain them only without anything that mail programs turn
// into links.
const (
	VerifyAddress   Template = "verify_address"   // code
	VerifyContested Template = "verify_contested" // code
	AccountExists   Template = "account_exists"
	ResetPassword   Template = "reset_password" // code
	PasswordChanged Template = "password_changed"
	AccountDeleted  Template = "account_deleted"
	SessionReused   Template = "session_reused"
	Invitation      Template = "invitation"     // organisation: its name; inviter: an e-mail address
	TokenExpiring   Template = "token_expiring" // #nosec G101 -- name: of a personal access token; expires: a date
	ProviderAdded   Template = "provider_added"
	// change: what was set up or removed, a sentence of this service
	SecondFactorChanged Template = "second_factor_changed"
	SecondFactorGuessed Template = "second_factor_guessed"
	// organisation: its name, which demands second factors from now on
	SecondFactorDemanded Template = "second_factor_demanded"
	// kind: of the receiver, in the service's words; name: given by a user; id
	ReceiverFailing Template = "receiver_failing"
	// RightsEnded needs one line for each record that changed because its maker has lost a right. Its only key has the
	// lines.
	RightsEnded Template = "rights_ended"
	// DisconnectionsWaiting needs name and id of a cloud organisation, and as digits the number of its accounts that
	// are waiting and connected.
	DisconnectionsWaiting Template = "disconnections_waiting"
	// DomainsMissing and DomainsLapsed need organisation, its name, and domains: a line for each mail domain.
	DomainsMissing Template = "domains_missing"
	DomainsLapsed  Template = "domains_lapsed"
	Notification   Template = "notification" // no keys: Mail.Letter is the text
	// Nothing is not sent. A request for an unknown address queues it, so that it takes as long as one for a known
	// address.
	Nothing Template = "nothing"
)

// Mail is one mail to be sent.
type Mail struct {
	Template Template          `json:"template"`
	To       string            `json:"to"` // in the form of identity.NormalizeAddress
	Data     map[string]string `json:"data"`
	// Letter is the text of a mail without a template.
	Letter *Letter `json:"letter,omitempty"`
	// Org is the organization that the mail is sent for, or "" for a mail about its recipient. The mails of one
	// organization do not delay those of another.
	Org string `json:"-"`
}

// Letter is a complete mail in plain text and HTML. The names in it are already harmless.
type Letter struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html"`
	// an https address that ends such mails when it receives a POST (RFC 8058)
	Unsubscribe string `json:"unsubscribe,omitempty"`
}
