package secondfactor

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/passkeys"
)

const maxPasskeys = 20 // of a user

// Passkey is a passkey of a user.
type Passkey struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"used,omitzero"` // of its last log-in
}

// storedPasskey is the record of a passkey.
type storedPasskey struct {
	Passkey
	passkeys.Record
}

// passkeyKey returns the key of a passkey. It follows from the credential, so that one is registered once.
func passkeyKey(user string, credential []byte) table.Key {
	return identity.SecondFactorKey(user, passkeyPrefix+identity.Digest(nil, string(credential)))
}

// decodePasskeys returns the passkeys among the records of a user, oldest first.
func decodePasskeys(rows []table.Item) ([]storedPasskey, error) {
	var out []storedPasskey
	for _, row := range rows {
		if !strings.HasPrefix(row.SK, identity.SecondFactorPrefix+passkeyPrefix) {
			continue
		}
		k, err := table.Decode[storedPasskey](row)
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b storedPasskey) int { return strings.Compare(a.ID, b.ID) }) // IDs sort by time
	return out, nil
}

func (f Factors) readPasskeys(ctx context.Context, user string) ([]storedPasskey, error) {
	rows, err := f.readRows(ctx, user, passkeyPrefix)
	if err != nil {
		return nil, err
	}
	return decodePasskeys(rows)
}

// Registration holds the options of the registration of a passkey.
type Registration struct {
	Host, Challenge string
	User            identity.User
	Known           [][]byte // IDs of the credentials that the user has
}

// BeginRegistration begins to add a passkey of u.
func (f Factors) BeginRegistration(ctx context.Context, u identity.User) (Registration, error) {
	rp, err := findRelyingParty(f.Settings.BaseURL)
	if err != nil {
		return Registration{}, err
	}
	keys, err := f.readPasskeys(ctx, u.ID)
	if err != nil {
		return Registration{}, err
	}
	if len(keys) >= maxPasskeys {
		return Registration{}, fault.New(fault.Conflict, "you have %d passkeys, and more are not possible: remove one",
			maxPasskeys)
	}
	out := Registration{Host: rp.ID, User: u}
	for _, k := range keys {
		out.Known = append(out.Known, k.CredentialID)
	}
	out.Challenge, err = f.issueChallenge(ctx, challenge{Purpose: toRegister, User: u.ID})
	return out, err
}

// NewPasskey is a passkey to be registered.
type NewPasskey struct {
	Name       string
	ClientData string          // clientDataJSON of the credential, in base64url
	Credential json.RawMessage // RegistrationResponseJSON of the W3C
}

// Register stores a passkey of c.User. It returns recovery codes if the user has no second factor yet.
func (f Factors) Register(ctx context.Context, c Change, n NewPasskey) (Passkey, []string, error) {
	rp, err := findRelyingParty(f.Settings.BaseURL)
	if err != nil {
		return Passkey{}, nil, err
	}
	text, err := passkeys.ChallengeOf(n.ClientData)
	if err != nil {
		return Passkey{}, nil, err
	}
	issued, err := f.useChallenge(ctx, text, toRegister)
	if err == nil && issued.User != c.User.ID {
		err = errChallenge()
	}
	if err != nil {
		return Passkey{}, nil, err
	}
	r, err := passkeys.Verify(ctx, f.Workers, passkeys.Ceremony{
		RPID: rp.ID, Origin: rp.Origin, Challenge: text, User: c.User.ID, Response: n.Credential,
	})
	if err != nil {
		return Passkey{}, nil, err
	}
	return f.storePasskey(ctx, c, n.Name, r)
}

func (f Factors) storePasskey(ctx context.Context, c Change, name string, r passkeys.Record) (Passkey,
	[]string, error,
) {
	now := f.Clock.Now()
	k := storedPasskey{Passkey{ID: id.New("pk", now), Name: name, Created: now}, r}
	it, err := table.NewItem(passkeyKey(c.User.ID, r.CredentialID), k)
	if err != nil {
		return Passkey{}, nil, err
	}
	ws, err := f.proveSession(ctx, c, identity.FactorPasskey)
	if err != nil {
		return Passkey{}, nil, err
	}
	ws = append(ws, table.Put(it, table.Absent()), updateUser(c.User, setPasskeys(c.User.Passkeys+1)))
	var codes []string
	if !c.User.HasSecondFactor() {
		var put table.Write
		if codes, put, err = f.newRecoveryCodes(c.User.ID); err != nil {
			return Passkey{}, nil, err
		}
		ws = append(ws, put)
	}
	return k.Passkey, codes, f.commit(ctx, c, "A passkey was added.", ws...)
}

// RemovePasskey removes a passkey of c.User, and the recovery codes if no factor is left. The caller has proved a
// factor.
func (f Factors) RemovePasskey(ctx context.Context, c Change, passkeyID string) error {
	k, err := f.FindPasskey(ctx, c.User.ID, passkeyID)
	if err != nil {
		return err
	}
	left := c.User
	left.Passkeys--
	ws := []table.Write{
		table.Delete(passkeyKey(c.User.ID, k.CredentialID), table.Exists()),
		updateUser(c.User, setPasskeys(left.Passkeys)),
	}
	if !left.HasSecondFactor() {
		ws = append(ws, table.Delete(identity.SecondFactorKey(c.User.ID, recoveryName)))
	}
	return f.commit(ctx, c, "A passkey was removed.", ws...)
}

// FindPasskey returns a passkey of a user by its ID.
func (f Factors) FindPasskey(ctx context.Context, user, passkeyID string) (storedPasskey, error) {
	keys, err := f.readPasskeys(ctx, user)
	if err != nil {
		return storedPasskey{}, err
	}
	i := slices.IndexFunc(keys, func(k storedPasskey) bool { return k.ID == passkeyID })
	if i < 0 {
		return storedPasskey{}, fault.New(fault.NotFound, "you have no passkey %.64q", passkeyID)
	}
	return keys[i], nil
}
