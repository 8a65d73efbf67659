package secondfactor

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
)

// The parameters of codes. Every authenticator app knows these; many ignore others.
const (
	period     = 30 * time.Second
	skew       = 1  // steps before and after the present one that are accepted, for slow clocks and slow fingers
	secretSize = 20 // bytes, the size of SHA-1 as RFC 4226 recommends
	digits     = otp.DigitsSix
	issuer     = "Lamplighter"
	newAppTTL  = 15 * time.Minute // between a secret and its first code
)

// app is an authenticator app of a user.
type app struct {
	Nonce   string    `json:"nonce"` // different for each app
	Sealed  []byte    `json:"sealed"`
	Step    int64     `json:"step"` // number of the last accepted period; earlier ones and itself are refused
	Created time.Time `json:"created"`
}

// Setup is a new secret for an authenticator app.
type Setup struct {
	Secret string // in base32
	URL    string // otpauth://…
	QR     string // the URL as an SVG
}

func sealPlace(user string) seal.Place { return seal.Place{Kind: Secret, ID: user} }

// BeginTOTP makes a secret for an app of u. It replaces one that was not confirmed. The app that u has works until the
// new one is confirmed.
func (f Factors) BeginTOTP(ctx context.Context, u identity.User) (Setup, error) {
	raw := make([]byte, secretSize)
	_, _ = rand.Read(raw) // crypto/rand never fails
	secret := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(raw)
	sealed, err := f.Sealer.Seal(ctx, sealPlace(u.ID), []byte(secret))
	if err != nil {
		return Setup{}, fmt.Errorf("seal the secret of an app: %w", err)
	}
	now := f.Clock.Now()
	it, err := table.NewItem(identity.SecondFactorKey(u.ID, newAppName), app{rand.Text(), sealed, 0, now})
	if err != nil {
		return Setup{}, err
	}
	it.Expires = now.Add(newAppTTL)
	if _, err = f.Table.Write(within(ctx, u.ID), table.Put(it)); err != nil {
		return Setup{}, fmt.Errorf("store a new app of %s: %w", u.ID, err)
	}
	address := otpauthURL(u.Email, secret)
	svg, err := drawQR(address)
	return Setup{secret, address, svg}, err
}

// otpauthURL returns the address that authenticator apps read from the QR code.
func otpauthURL(account, secret string) string {
	q := "secret=" + secret + "&issuer=" + issuer + "&algorithm=SHA1&digits=6&period=30"
	return (&url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + issuer + ":" + account, RawQuery: q}).String()
}

// ConfirmTOTP makes the new app the app of c.User, if code is one of its codes. It returns new recovery codes, which
// replace the old ones.
func (f Factors) ConfirmTOTP(ctx context.Context, c Change, code string) ([]string, error) {
	k := identity.SecondFactorKey(c.User.ID, newAppName)
	a, err := table.Read[app](within(ctx, c.User.ID), f.Table, k)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.New(
			fault.Conflict, "there is no new secret, or it is older than 15 minutes: begin with POST "+
				"/auth/mfa/totp")
	}
	if err != nil {
		return nil, fmt.Errorf("read the new app of %s: %w", c.User.ID, err)
	}
	if a.Step, err = f.matchingStep(ctx, c.User.ID, a, code); err != nil {
		return nil, err
	}
	if a.Step == 0 {
		return nil, fault.New(fault.Invalid, "otp: it is no code of the new secret; check the clock of the device, "+
			"and send "+
			"the code that it shows now")
	}
	return f.storeApp(ctx, c, a)
}

// storeApp stores a confirmed app with new recovery codes.
func (f Factors) storeApp(ctx context.Context, c Change, a app) ([]string, error) {
	live, err := table.NewItem(identity.SecondFactorKey(c.User.ID, appName), a)
	if err != nil {
		return nil, err
	}
	codes, put, err := f.newRecoveryCodes(c.User.ID)
	if err != nil {
		return nil, err
	}
	ws, err := f.proveSession(ctx, c, identity.FactorTOTP)
	if err != nil {
		return nil, err
	}
	ws = append(ws, table.Delete(identity.SecondFactorKey(c.User.ID, newAppName), table.Equal("nonce", a.Nonce)),
		table.Put(live), put, updateUser(c.User, table.Set("totp", true)))
	return codes, f.commit(ctx, c, "An authenticator app was set up, with new recovery codes.", ws...)
}

// RemoveTOTP removes the app of c.User, and the recovery codes if no passkey is left. The caller has proved a factor.
func (f Factors) RemoveTOTP(ctx context.Context, c Change) error {
	ws := []table.Write{
		table.Delete(identity.SecondFactorKey(c.User.ID, appName), table.Exists()),
		updateUser(c.User, table.Remove("totp")),
	}
	if c.User.Passkeys == 0 {
		ws = append(ws, table.Delete(identity.SecondFactorKey(c.User.ID, recoveryName)))
	}
	return f.commit(ctx, c, "The authenticator app was removed.", ws...)
}

// matchingStep returns the number of the period that code belongs to, or 0 if it is no present code of the app.
func (f Factors) matchingStep(ctx context.Context, user string, a app, code string) (int64, error) {
	secret, err := f.Sealer.Open(ctx, sealPlace(user), a.Sealed)
	if err != nil {
		return 0, fmt.Errorf("open the secret of the app of %s: %w", user, err)
	}
	now, found := f.Clock.Now().Unix()/int64(period.Seconds()), int64(0)
	for step := now - skew; step <= now+skew; step++ {
		ok, err := hotp.ValidateCustom(code, uint64(step), string(secret), //nolint:gosec // after 1970
			hotp.ValidateOpts{Digits: digits, Algorithm: otp.AlgorithmSHA1})
		if err != nil {
			return 0, fmt.Errorf("calculate a code of %s: %w", user, err)
		}
		if ok && step > found {
			found = step
		}
	}
	return found, nil
}

// useTOTP reports whether code is a code of the user's app that was not used before, and uses it up: of several
// requests with one code, one succeeds.
func (f Factors) useTOTP(ctx context.Context, user, code string) (bool, error) {
	k := identity.SecondFactorKey(user, appName)
	a, err := table.Read[app](within(ctx, user), f.Table, k)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the app of %s: %w", user, err)
	}
	step, err := f.matchingStep(ctx, user, a, code)
	if err != nil || step <= a.Step {
		return false, err
	}
	_, err = f.Table.Write(table.WithoutAttachment(within(ctx, user)), table.Update(k,
		[]table.Change{table.Set("step", step)}, table.Equal("nonce", a.Nonce), table.Less("step", step)))
	if _, used := errors.AsType[*table.ConditionError](err); used {
		return false, nil
	}
	return err == nil, fault.Wrap("use a code of "+user, err)
}
