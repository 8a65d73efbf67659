// Package secondfactor keeps the second factors of users: codes of an authenticator app (TOTP, RFC 6238), recovery
// codes and passkeys (WebAuthn). It verifies each proof once, and limits guesses.
package secondfactor

import (
	"context"
	"errors"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Secret is the kind of place that the secret of an authenticator app is sealed for.
const Secret = "totp"

// The names of a user's records, for identity.SecondFactorKey.
const (
	appName       = "TOTP"     // the authenticator app
	newAppName    = "TOTPNEW"  // the app that waits for its first code
	recoveryName  = "RECOVERY" // the unused recovery codes
	passkeyPrefix = "PASSKEY#" // and the digest of the credential's ID
	seenPrefix    = "SEEN#"    // and the digest of a source that a code was accepted from
	maxRecords    = 1000       // of a user, far more than there can be
	seenTTL       = 90 * 24 * time.Hour
)

// Factors reads, changes and verifies second factors. It has no state.
type Factors struct {
	*platform.Platform
}

// New returns the Factors of p.
func New(p *platform.Platform) Factors { return Factors{p} }

// within allows the partitions that this package touches.
func within(ctx context.Context, user string) context.Context {
	return table.Within(ctx, identity.UserPrefix+user, ChallengePrefix, identity.SessionPrefix, mail.Prefix,
		ratelimit.Prefix)
}

// Status lists the second factors of a user.
type Status struct {
	TOTP              bool
	RecoveryCodesLeft int
	Passkeys          []Passkey // oldest first
}

// ReadStatus reads the second factors of a user. One round trip.
func (f Factors) ReadStatus(ctx context.Context, user string) (Status, error) {
	rows, err := f.readRows(ctx, user, "")
	if err != nil {
		return Status{}, err
	}
	var out Status
	for _, row := range rows {
		switch strings.TrimPrefix(row.SK, identity.SecondFactorPrefix) {
		case appName:
			out.TOTP = true
		case recoveryName:
			left, err := table.Decode[recoveryCodes](row)
			if err != nil {
				return out, err
			}
			out.RecoveryCodesLeft = len(left)
		}
	}
	keys, err := decodePasskeys(rows)
	for _, k := range keys {
		out.Passkeys = append(out.Passkeys, k.Passkey)
	}
	return out, err
}

// readRows reads the records of a user whose names begin with prefix. Expired ones are left out.
func (f Factors) readRows(ctx context.Context, user, prefix string) ([]table.Item, error) {
	q := table.Query{PK: identity.UserKey(user).PK, Prefix: identity.SecondFactorPrefix + prefix, Limit: maxRecords}
	page, err := f.Table.Query(within(ctx, user), q)
	return page.Items, fault.Wrap("read second factors of "+user, err)
}

// Change is a change of a user's second factors by a caller with a session, which proves the factor by it.
type Change struct {
	User    identity.User
	Session string
	Source  string // network source of the request
}

// commit writes a change of a user's second factors together with the mail that tells the user of it. It returns
// fault.Conflict if the user's factors have changed meanwhile.
func (f Factors) commit(ctx context.Context, c Change, told string, ws ...table.Write) error {
	post, err := mail.QueueMail(ctx, f.Sealer, f.Clock.Now(), mail.Mail{
		Template: mail.SecondFactorChanged, To: c.User.Email, Data: map[string]string{"change": told},
	})
	if err != nil {
		return err
	}
	err = f.Table.Transact(within(ctx, c.User.ID), append(ws, post)...)
	if _, raced := errors.AsType[*table.ConditionError](err); raced {
		return fault.New(fault.Conflict,
			"your second factors were changed at the same time: read GET /auth/mfa and repeat")
	}
	return fault.Wrap("change second factors of "+c.User.ID, err)
}

// updateUser returns the write that changes which factors u has, unless somebody has changed them since u was read.
func updateUser(u identity.User, changes ...table.Change) table.Write {
	conds := []table.Cond{table.Equal("epoch", u.Epoch), table.Lacks("totp"), table.Lacks("passkeys")}
	if u.TOTP {
		conds[1] = table.Equal("totp", true)
	}
	if u.Passkeys > 0 {
		conds[2] = table.Equal("passkeys", u.Passkeys)
	}
	return table.Update(identity.UserKey(u.ID), changes, conds...)
}

// setPasskeys returns the change that stores the number of passkeys.
func setPasskeys(n int64) table.Change {
	if n == 0 {
		return table.Remove("passkeys")
	}
	return table.Set("passkeys", n)
}

// ReadUser reads the account of a caller.
func (f Factors) ReadUser(ctx context.Context, user string) (identity.User, error) {
	u, err := table.Read[identity.User](within(ctx, user), f.Table, identity.UserKey(user))
	return u, fault.Wrap("read user "+user, err)
}

// FirstFactorWindow is how long after its log-in a session may set up the first second factor of its user.
const FirstFactorWindow = time.Hour

// CheckLogIn returns nil if the session of c may set up a second factor. For a user without one, whom no step-up
// protects, it returns fault.Denied when the log-in is older than FirstFactorWindow: the thief of an old session must
// not shut the owner out.
func (f Factors) CheckLogIn(ctx context.Context, c Change) error {
	if c.User.HasSecondFactor() || c.Session == "" {
		return nil
	}
	sess, err := f.readSession(ctx, c)
	if err != nil || f.Clock.Now().Sub(sess.Created) <= FirstFactorWindow {
		return err
	}
	return fault.New(fault.Denied, "your log-in is older than an hour, which is too long ago to set up a first second "+
		"factor: log in again, with POST /auth/login or at the provider, and repeat")
}

func (f Factors) readSession(ctx context.Context, c Change) (identity.Session, error) {
	sess, err := table.Read[identity.Session](within(ctx, c.User.ID), f.Table, identity.SessionKey(c.Session))
	return sess, fault.Wrap("read session "+c.Session, err)
}

// proveSession returns the write that records that the session's user has proved a factor, or none if there is no
// session.
func (f Factors) proveSession(ctx context.Context, c Change, factor string) ([]table.Write, error) {
	if c.Session == "" {
		return nil, nil
	}
	sess, err := f.readSession(ctx, c)
	if err != nil {
		return nil, err
	}
	return []table.Write{table.Update(identity.SessionKey(c.Session), sess.AddProof(factor, f.Clock.Now()),
		table.Equal("state", identity.SessionLive))}, nil
}

// NoteProof records in the session that its user has proved a factor.
func (f Factors) NoteProof(ctx context.Context, c Change, factor string) error {
	ws, err := f.proveSession(ctx, c, factor)
	if err != nil || len(ws) == 0 {
		return err
	}
	return fault.Wrap("note a second factor in session "+c.Session, f.Table.Transact(within(ctx, c.User.ID), ws...))
}
