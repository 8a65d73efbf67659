// Package attempts tells organizations about uses of their members' credentials that are no requests of a member:
// refused log-ins, codes and tokens, used codes and password resets. A request only counts the attempt, with one write
// that is the same for known and unknown addresses. The counts become rows of audit logs afterwards, when a log is read
// and each minute: few rows for many attempts, and at most rowsPerOrg an hour for an organization.
package attempts

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
)

// The actions of attempts: operation IDs, UseToken for a request that the authorizer refuses, and ProveFactor for the
// second factor of a log-in, a refresh or a change.
const (
	LogIn         = "logIn"
	ValidateCode  = "validateCode"
	ResetPassword = "resetPassword"
	Refresh       = "refresh"
	UseToken      = "useToken"
	ProveFactor   = "proveSecondFactor" // a code of an app, or a recovery code
)

// The metrics of refused attempts.
const (
	RefusedLogIns = "refusedLogIns"
	RefusedCodes  = "refusedCodes"
	RefusedTokens = "refusedTokens"
)

// operation is what rows and metrics say of an action.
type operation struct{ method, path, metric string }

func operationOf(action string) operation {
	switch action {
	case LogIn:
		return operation{"POST", "/auth/login", RefusedLogIns}
	case ValidateCode:
		return operation{"PATCH", "/auth/otp/validate", RefusedCodes}
	case ResetPassword:
		return operation{"PATCH", "/auth/password/reset", RefusedCodes}
	case Refresh:
		return operation{"POST", "/auth/refresh", RefusedTokens}
	case UseToken:
		return operation{metric: RefusedTokens}
	}
	return operation{metric: RefusedCodes}
}

// Attempt is a use of a credential.
type Attempt struct {
	Action string // LogIn, …
	Status int    // of the answer
	Who    string // a user ID, or the result of ByAddress
	// Org is the only organization that is told: the one that the credential is for. If it is empty, all organizations
	// of the user are told, and none learns of the others.
	Org       string
	IP        string
	RequestID string
}

// ByAddress returns the Who of an attempt with an e-mail address in the form of identity.NormalizeAddress, with or
// without an account. It does not contain the address.
func ByAddress(pepper []byte, address string) string {
	return identity.Digest(pepper, "email", address)
}

const (
	prefix = "ATTEMPT#"
	// countsPK holds all counts, so that a reader finds them with one query. The limits of guesses bound its writes.
	countsPK = prefix + "00"
	// window is the time whose attempts are counted together.
	window = time.Hour
	// maxCounted is how many attempts of one kind are counted in a window.
	maxCounted = 10_000
	noteTTL    = 3 * 24 * time.Hour
	noteTime   = 2 * time.Second // of a request, for counting
	maxFull    = 10_000
)

// Partition matches the partitions of counts.
const Partition table.Partition = prefix + "*"

// Attempts counts attempts. Full counts are remembered, so that they cost no more writes.
type Attempts struct {
	*platform.Platform
	mu   sync.Mutex
	full map[table.Key]struct{}
}

// New returns the Attempts of p.
func New(p *platform.Platform) *Attempts {
	return platform.Shared(p, func(p *platform.Platform) *Attempts {
		return &Attempts{Platform: p, full: map[table.Key]struct{}{}}
	})
}

// note is the count of attempts of one kind within a window.
type note struct {
	Who     string    `json:"who"`
	Action  string    `json:"action"`
	Status  int       `json:"status"`
	Org     string    `json:"org,omitempty"`
	Begin   time.Time `json:"begin"` // of the window
	N       int64     `json:"n"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	IP      string    `json:"ip,omitempty"`      // of the last one
	Request string    `json:"request,omitempty"` // ID of the last one
	Told    int64     `json:"told,omitempty"`    // N in the last row
	Cursor  string    `json:"cursor,omitempty"`  // the last organization that was told, if others are still to be told

	key table.Key
}

func (t Attempt) key(begin time.Time) table.Key {
	parts := []string{t.Who, t.Action, strconv.Itoa(t.Status), t.Org, strconv.FormatInt(begin.Unix(), 10)}
	return table.Key{PK: countsPK, SK: strings.Join(parts, " ")}
}

// countWrite returns the write that counts n attempts.
func (t Attempt) countWrite(now time.Time, n int64, conds ...table.Cond) table.Write {
	begin := now.Truncate(window)
	changes := []table.Change{
		table.Add("n", n), table.Set("who", t.Who), table.Set("action", t.Action), table.Set("status", t.Status),
		table.Set("org", t.Org), table.Set("begin", begin), table.SetOnce("first", now), table.Set("last", now),
		table.Set("ip", t.IP), table.Set("request", t.RequestID), table.Expire(begin.Add(window + noteTTL)),
	}
	return table.Update(t.key(begin), changes, conds...)
}

// Note counts an attempt, and measures it if it was refused. One write; a count that cannot be written is logged, and
// affects nothing else.
func (a *Attempts) Note(ctx context.Context, t Attempt) {
	if t.Status >= 400 {
		a.Measure(ctx, operationOf(t.Action).metric)
	}
	now := a.Clock.Now()
	k := t.key(now.Truncate(window))
	if t.Who == "" || a.isFull(k) {
		return
	}
	ctx, cancel := context.WithTimeout(table.Within(table.WithoutAttachment(context.WithoutCancel(ctx)), prefix),
		noteTime)
	defer cancel()
	_, err := a.Table.Write(ctx, t.countWrite(now, 1, table.Any(table.Lacks("n"), table.Less("n", maxCounted))))
	if _, full := errors.AsType[*table.ConditionError](err); full {
		a.rememberFull(k)
		return
	}
	if err != nil {
		a.Log.WarnContext(ctx, "an attempt was not counted", "action", t.Action, "error", err.Error())
	}
}

// Measure adds one to a metric of the dashboard: RefusedLogIns, RefusedCodes or RefusedTokens.
func (a *Attempts) Measure(ctx context.Context, metric string) {
	a.Log.LogAttrs(ctx, slog.LevelInfo, "credential refused",
		append(a.Metrics(a.Clock.Now(), metric), slog.Int(metric, 1))...)
}

func (a *Attempts) isFull(k table.Key) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, full := a.full[k]
	return full
}

// rememberFull records that a count is full. The record is bounded; a missing entry only costs a write.
func (a *Attempts) rememberFull(k table.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.full) >= maxFull {
		clear(a.full)
	}
	a.full[k] = struct{}{}
}
