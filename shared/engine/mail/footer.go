package mail

import "strings"

// reasons says why each mail was sent. A template without a reason fails the test of the templates.
var reasons = map[Template]string{
	VerifyAddress:   "somebody signed up at Lamplighter with this address, or\nasked for another code",
	VerifyContested: "somebody signed up at Lamplighter with this address, or\nasked for another code",
	AccountExists:   "somebody signed up with this address, which has an\naccount",
	ResetPassword:   "somebody asked to reset the password of your account",
	PasswordChanged: "the password of your account was changed",
	AccountDeleted:  "your account was deleted",
	SessionReused:   "a session of your account was ended",
	Invitation: "the person named above entered this address. One person\ncan send five such mails a day " +
		"to an address",
	TokenExpiring:         "you made this token and it ends soon",
	ProviderAdded:         "your account got another way to log in",
	SecondFactorChanged:   "somebody logged in to your account changed its second\nfactors",
	SecondFactorGuessed:   "somebody entered wrong codes after the right password of\nyour account",
	SecondFactorDemanded:  "you are an owner of the organization",
	ReceiverFailing:       "you are an owner of the organization",
	RightsEnded:           "you are an owner of the organization",
	DisconnectionsWaiting: "you are an owner of the organization",
	DomainsMissing: "you are an owner of the organization. It is sent each\nday until the record is back or " +
		"the domain has lapsed",
	DomainsLapsed: "you are an owner of the organization",
}

// docsPath is the page of the service that people can open in a browser without a log-in.
const docsPath = "/docs"

// ServicePage returns the address of the service's page. It returns "" if base is no web address.
func ServicePage(base string) string {
	if !strings.HasPrefix(base, "https://") && !strings.HasPrefix(base, "http://") {
		return ""
	}
	return base + docsPath
}

// WhySent returns the sentence that tells a recipient why they get a mail.
func WhySent(reason string) string { return "You get this mail because " + reason + "." }

// footer returns the lines under the text of a mail.
func footer(of Template, base string) string {
	var b strings.Builder
	b.WriteString("\n-- \n")
	if reason := reasons[of]; reason != "" {
		b.WriteString(WhySent(reason) + "\n")
	}
	if page := ServicePage(base); page != "" {
		b.WriteString("Lamplighter: " + page + "\n")
	}
	return b.String()
}
