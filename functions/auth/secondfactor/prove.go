package secondfactor

import (
	"context"
	"regexp"
	"strconv"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// These rules limit wrong codes. Only a caller who has the password, or a session, reaches them, so a stranger uses up
// nothing. A thief of the password cannot lock the owner out either: the limit of an account counts only sources from
// which no code was accepted before, and starts anew with a new password. Recovery codes and passkeys, which cannot be
// guessed, are not subject to it.
var (
	// wrong codes and recovery codes of an account from one source.
	triesPerSource = ratelimit.Rule{Name: "mfa-source", Max: 10, Per: 15 * time.Minute}
	// wrong codes of an app from a source that a code was accepted from within seenTTL.
	triesFromSeen = ratelimit.Rule{Name: "mfa-seen", Max: 20, Per: 24 * time.Hour}
	// wrong codes of an app from all other sources together.
	triesFromUnseen = ratelimit.Rule{Name: "mfa-unseen", Max: 10, Per: 30 * 24 * time.Hour}
	// wrong codes of an account before its owner is told, and how often that happens.
	triesUntold = ratelimit.Rule{Name: "mfa-untold", Max: 2, Per: 24 * time.Hour}
	warnings    = ratelimit.Rule{Name: "mfa-told", Max: 1, Per: 24 * time.Hour}
)

var appCode = regexp.MustCompile(`^[0-9]{6}$`)

// errWrong returns the same error for a code that is wrong, used or too old.
func errWrong() error {
	return fault.New(fault.Unauthenticated,
		"otp: wrong or used code; send the next code of your app, or a recovery code")
}

// use is a rule with the name of its user.
type use struct {
	ratelimit.Rule
	who string
}

// ProveCode verifies a code of the app or a recovery code of u, sent from a source, and uses it up. It returns the kind
// of factor. A wrong code is fault.Unauthenticated, too many are fault.Denied.
func (f Factors) ProveCode(ctx context.Context, u identity.User, source, code string) (string, error) {
	byApp, at := appCode.MatchString(code), f.Clock.Now()
	uses, err := f.limits(ctx, u, source, byApp)
	if err != nil {
		return "", err
	}
	for _, l := range uses { // before the comparison, so that concurrent guesses get no more tries than sequential ones
		if err := f.take(ctx, l); err != nil {
			return "", err
		}
	}
	factor, use := identity.FactorRecovery, f.useRecoveryCode
	if byApp {
		factor, use = identity.FactorTOTP, f.useTOTP
	}
	right, err := use(ctx, u.ID, code)
	switch {
	case err != nil:
		return "", err
	case !right:
		f.warnOwner(ctx, u)
		return "", errWrong()
	}
	f.giveBack(ctx, at, uses)
	return factor, f.noteSource(ctx, u.ID, source)
}

// limits returns the rules for a code from a source.
func (f Factors) limits(ctx context.Context, u identity.User, source string, byApp bool) ([]use, error) {
	out := []use{{triesPerSource, u.ID + " " + source}}
	if !byApp {
		return out, nil
	}
	seen, err := f.hasSeen(ctx, u.ID, source)
	if seen {
		return append(out, use{triesFromSeen, u.ID + " " + source}), err
	}
	return append(out, use{triesFromUnseen, u.ID + " " + strconv.FormatInt(u.CredentialEpoch(), 10)}), err
}

// take counts a try. A failing counter is logged and refuses no request.
func (f Factors) take(ctx context.Context, l use) error {
	ok, err := ratelimit.TakeUse(ctx, f.Table, f.Clock.Now(), l.Rule, l.who)
	if err != nil {
		f.Log.ErrorContext(ctx, "a limit was not counted", "rule", l.Name, "error", err.Error())
	}
	switch {
	case ok:
		return nil
	case l.Name == triesPerSource.Name:
		return fault.New(fault.Denied,
			"too many wrong codes: wait a quarter of an hour and try again, or log in with a "+
				"passkey")
	}
	return fault.New(fault.Denied, "too many wrong codes: send a recovery code, log in with a passkey, or set a new "+
		"password with POST /auth/password/forget; codes of an app are then accepted again")
}

func (f Factors) giveBack(ctx context.Context, at time.Time, uses []use) {
	ctx = context.WithoutCancel(ctx)
	for _, l := range uses {
		if err := ratelimit.ReturnUse(ctx, f.Table, at, l.Rule, l.who); err != nil {
			f.Log.ErrorContext(ctx, "a limit was not given back", "rule", l.Name, "error", err.Error())
		}
	}
}

// seenKey returns the key that tells that a code of the user was accepted from a source.
func (f Factors) seenKey(user, source string) table.Key {
	return identity.SecondFactorKey(user, seenPrefix+identity.Digest(f.Settings.Pepper, "mfa-source", user, source))
}

// seenSource is a source that a code was accepted from.
type seenSource struct {
	At time.Time `json:"at"`
}

func (f Factors) hasSeen(ctx context.Context, user, source string) (bool, error) {
	_, err := table.Read[seenSource](within(ctx, user), f.Table, f.seenKey(user, source))
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, fault.Wrap("look for a source of "+user, err)
}

func (f Factors) noteSource(ctx context.Context, user, source string) error {
	now := f.Clock.Now()
	it, err := table.NewItem(f.seenKey(user, source), seenSource{now})
	if err != nil {
		return err
	}
	it.Expires = now.Add(seenTTL)
	_, err = f.Table.Write(table.WithoutAttachment(within(ctx, user)), table.Put(it))
	return fault.Wrap("note a source of "+user, err)
}

// warnOwner mails the owner of an account, at most once a day, that somebody sends wrong codes: that person has the
// password or a session. A failure is logged: it must not tell more than a wrong code does.
func (f Factors) warnOwner(ctx context.Context, u identity.User) {
	now := f.Clock.Now()
	if few, err := ratelimit.TakeUse(ctx, f.Table, now, triesUntold, u.ID); few || err != nil {
		return
	}
	if first, err := ratelimit.TakeUse(ctx, f.Table, now, warnings, u.ID); !first || err != nil {
		return
	}
	post, err := mail.QueueMail(ctx, f.Sealer, now, mail.Mail{Template: mail.SecondFactorGuessed, To: u.Email})
	if err == nil {
		_, err = f.Table.Write(table.WithoutAttachment(within(ctx, u.ID)), post)
	}
	if err != nil {
		f.Log.ErrorContext(ctx, "a user was not told of wrong codes", "user", u.ID, "error", err.Error())
	}
}
