package overrides

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Bounds of wake links.
const (
	maxLinks     = 100 // of an organization
	longestLink  = 365 * 24 * time.Hour
	usualLink    = 30 * 24 * time.Hour
	usualHours   = 12
	usualPerDay  = 3
	signatureLen = 16
)

// link is a wake link as it is stored. Its token is not: only a keyed hash of it leads to the link.
type link struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	GroupID    string `json:"groupID,omitempty"`
	ResourceID string `json:"resourceID,omitempty"`
	MaxHours   int    `json:"maxHours"`
	PerDay     int    `json:"perDay"`
	CreatedBy  string `json:"createdBy"`
	// the user who made it; older links have the address in CreatedBy alone
	Maker       string    `json:"maker,omitempty"`
	CreatedAt   time.Time `json:"createdAt"`
	ExpiresAt   time.Time `json:"expiresAt"`
	Hash        string    `json:"hash"`
	LastUsedAt  time.Time `json:"lastUsedAt,omitzero"`
	Starts      int64     `json:"starts"`
	Force       bool      `json:"force,omitempty"`
	ResourceUID string    `json:"resourceUID,omitempty"`
}

// place is where a token leads.
type place struct {
	Org    string `json:"org"`
	LinkID string `json:"linkID"`
}

// WakeLink is a wake link as clients see it.
type WakeLink struct {
	ID           string     `json:"id" example:"wake_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Name         string     `json:"name"`
	GroupID      *string    `json:"groupID" doc:"Null for a resource"`
	ResourceID   *string    `json:"resourceID" doc:"Our id of the resource; null for a group"`
	MaxHours     int        `json:"maxHours" doc:"After so many hours it is stopped where no schedule stops it before"`
	StartsPerDay int        `json:"startsPerDay" doc:"How often it can be used in a day (UTC)"`
	Starts       int64      `json:"starts" doc:"How often it was used"`
	CreatedBy    string     `json:"createdBy"`
	CreatedAt    time.Time  `json:"createdAt"`
	ExpiresAt    time.Time  `json:"expiresAt"`
	LastUsedAt   *time.Time `json:"lastUsedAt" doc:"Null until it is used"`
	EndedReason  *string    `json:"endedReason" doc:"Why it starts nothing any more although it has not expired: its maker has left the organization, has lost overrides:write, or may act on nothing that it is for; null while it works"`
	Force        bool       `json:"force" doc:"It also stops targets of active event readiness plans at its end"`
}

// NewLink is a wake link with the address that it is about: told once.
type NewLink struct {
	WakeLink
	URL string `json:"url" doc:"To be handed out. It is shown this once: what is stored is a hash of it"`
}

func shownLink(l link) WakeLink {
	return WakeLink{
		ID: l.ID, Name: l.Name, GroupID: rest.Optional(l.GroupID), ResourceID: rest.Optional(l.ResourceID),
		MaxHours: l.MaxHours, StartsPerDay: l.PerDay,
		Starts: l.Starts, CreatedBy: l.CreatedBy, CreatedAt: l.CreatedAt, ExpiresAt: l.ExpiresAt,
		LastUsedAt: rest.Optional(l.LastUsedAt), Force: l.Force,
	}
}

// WakeLinkBody is the body of POST …/wake-links.
type WakeLinkBody struct {
	Name         string    `json:"name,omitempty" maxLength:"128" doc:"What the page is headed by"`
	MaxHours     int       `json:"maxHours,omitempty" minimum:"1" maximum:"168" default:"12" doc:"At most so many hours from a start to its stop"`
	StartsPerDay int       `json:"startsPerDay,omitempty" minimum:"1" maximum:"100" default:"3" doc:"How often it can be used in a day (UTC)"`
	ExpiresAt    rest.Time `json:"expiresAt,omitzero" doc:"Within a year; in 30 days when absent"`
	Force        bool      `json:"force,omitempty" doc:"Stop also targets of active event readiness plans at its end; it takes actions:execute on every resource, and is put on record"`
}

const linkWords = "The answer holds, once, the address of a page that says what the link starts and until when, " +
	"without a log-in; its button starts that, as an override force_on that ends " +
	"with the next stop of its schedules, at the latest after maxHours, in a stop. Looking at the page changes " +
	"nothing. Whoever has the address can use it: " +
	"revoke it when it got lost. While an override holds something of it off, it does nothing, and without force " +
	"neither while an active event readiness plan holds something of it beyond that end. It starts only resources on " +
	"which its maker may act (overrides:write) at that moment, and " +
	"ends with the maker's rights: when they leave the organization, or lose that policy on all that the link is " +
	"for. At most 100 of an organization: 409."

func (s *service) linkOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "createGroupWakeLink", Method: http.MethodPost, ShownOnce: "url",
		Path: "/resource-groups/{groupID}/wake-links", Policy: writing, Scoped: true, Statuses: acting,
		Summary: "Make a link that wakes a resource group", Description: linkWords,
	}, s.linkGroup)
	rest.Handle(g, rest.Op{
		ID: "createResourceWakeLink", Method: http.MethodPost, ShownOnce: "url",
		Path: "/resources/{resourceID}/wake-links", Policy: writing, Scoped: true, Statuses: acting,
		Summary: "Make a link that wakes a resource", Description: linkWords,
	}, s.linkResource)
	rest.Handle(g, rest.Op{
		ID: "listWakeLinks", Method: http.MethodGet, Path: links, Policy: reading, Scoped: true, Statuses: listing,
		Summary: "List wake links",
		Description: "Newest first, without their addresses, which nobody can read again. A grant on teams or " +
			"resources shows the caller's own links, and those for what lies in it.",
	}, s.listLinks)
	rest.Handle(g, rest.Op{
		ID: "deleteWakeLink", Method: http.MethodDelete, Path: links + "/{wakeLinkID}", Policy: writing, Scoped: true,
		Statuses: found, Summary: "Revoke a wake link",
		Description: "From now on its page is 404. What it started goes on until its end: end the override to stop " +
			"it. Its maker can revoke it; so can who holds overrides:write on all that it is for.",
	}, s.revoke)
}

func (s *service) linkGroup(ctx context.Context, in *struct {
	GroupPath
	Body WakeLinkBody
},
) (NewLink, error) {
	t, err := s.groupOf(ctx, in.GroupID, writing)
	if err == nil {
		err = s.actionable(ctx, t, "groupID", in.GroupID)
	}
	if err == nil {
		err = s.mayForce(ctx, t, in.Body.Force)
	}
	if err != nil {
		return NewLink{}, err
	}
	l := link{Name: cmp.Or(in.Body.Name, t.Group.Name), GroupID: in.GroupID}
	return s.newLink(ctx, l, in.Body, inventory.HoldGroup(identity.CallerOrg(ctx), in.GroupID))
}

func (s *service) linkResource(ctx context.Context, in *struct {
	ResourceID string `path:"resourceID" maxLength:"64"`
	Body       WakeLinkBody
},
) (NewLink, error) {
	t, err := s.resourceByID(ctx, in.ResourceID)
	if err == nil {
		err = s.actionable(ctx, t, "resourceID", in.ResourceID)
	}
	if err == nil {
		err = s.mayForce(ctx, t, in.Body.Force)
	}
	if err != nil {
		return NewLink{}, err
	}
	m := t.Members[0]
	holds, err := inventory.HoldAccounts(identity.CallerOrg(ctx), []string{m.CloudAccountID})
	if err != nil {
		return NewLink{}, err
	}
	return s.newLink(ctx, link{Name: cmp.Or(in.Body.Name, m.Name, m.UID), ResourceID: m.ResourceID, ResourceUID: m.UID},
		in.Body, holds)
}

// resourceByID returns the resource of our id on which the caller may act.
func (s *service) resourceByID(ctx context.Context, resourceID string) (evaluation.Target, error) {
	org, missing := identity.CallerOrg(ctx), fault.New(fault.NotFound, "resource %.64q does not exist", resourceID)
	if !id.IsValid("res", resourceID) {
		return evaluation.Target{}, missing
	}
	t, err := s.evaluation.ResourceTarget(ctx, org, resourceID)
	if err != nil {
		return t, err
	}
	uid := ""
	for _, m := range t.Members {
		uid = m.UID
	}
	for _, l := range t.LeftOut {
		uid = l.UID
	}
	if t, _, err = s.resourceOf(ctx, uid); fault.Is(err, fault.NotFound) {
		err = missing
	}
	return t, err
}

// newLink makes and stores a wake link that counts as a use of its target by holds.
func (s *service) newLink(ctx context.Context, l link, b WakeLinkBody, holds []table.Write) (NewLink, error) {
	c, now := identity.CallerFrom(ctx), s.p.Clock.Now()
	l.ID, l.CreatedBy, l.Maker, l.CreatedAt, l.Force = id.New("wake", now), c.Email, c.User, now, b.Force
	l.MaxHours, l.PerDay, l.ExpiresAt = cmp.Or(b.MaxHours, usualHours), cmp.Or(b.StartsPerDay, usualPerDay),
		b.ExpiresAt.Time
	if l.ExpiresAt.IsZero() {
		l.ExpiresAt = now.Add(usualLink)
	}
	if !l.ExpiresAt.After(now) || l.ExpiresAt.Sub(now) > longestLink {
		return NewLink{}, fault.New(fault.Invalid, "expiresAt: %s is not within a year from now: after %s, until %s",
			l.ExpiresAt.Format(time.RFC3339), now.UTC().Format(time.RFC3339),
			now.Add(longestLink).UTC().Format(time.RFC3339))
	}
	token := s.newToken()
	l.Hash = s.hash(token)
	audit.NoteChange(ctx, audit.Change{Target: l.ID, After: shownLink(l), Final: true})
	if err := s.storeLink(ctx, l, holds); err != nil {
		return NewLink{}, err
	}
	return NewLink{shownLink(l), s.p.Settings.BaseURL + "/wake/" + token}, nil
}

// storeLink stores a new link when the organization has room for it, and counts it as a use of its target by holds:
// fault.Conflict without room, fault.NotFound without the target. The limit holds however many are made at once.
func (s *service) storeLink(ctx context.Context, l link, holds []table.Write) error {
	limited := table.LimitedList{PK: override.WakeLinkPK(identity.CallerOrg(ctx)), Noun: "wake links"}
	return limited.Add(ctx, s.p.Table, func(take table.Write) error {
		n, err := s.countLinks(ctx)
		if err == nil && n >= maxLinks {
			err = fault.New(fault.Conflict, "the organization has %d wake links, which is the most: revoke some first",
				n)
		}
		if err != nil {
			return err
		}
		return s.writeLink(ctx, l, append(slices.Clip(holds), take))
	})
}

// writeLink writes a new link and the way to it together with more.
func (s *service) writeLink(ctx context.Context, l link, more []table.Write) error {
	org := identity.CallerOrg(ctx)
	row, err := table.NewItem(override.WakeLinkKey(org, l.ID), l)
	if err != nil {
		return err
	}
	way, err := table.NewItem(override.WakeTokenKey(l.Hash), place{org, l.ID})
	if err != nil {
		return err
	}
	row.Expires, way.Expires = l.ExpiresAt, l.ExpiresAt
	ws := append([]table.Write{table.Put(row, table.Absent()), table.Put(way, table.Absent())}, more...)
	err = s.p.Table.Transact(table.Within(ctx, override.WakeTokenPrefix), ws...)
	if _, gone := errors.AsType[*table.ConditionError](err); gone && !table.IsTurnLost(err) {
		return fault.NewWithCause(fault.NotFound, err,
			"the target of the wake link was deleted meanwhile; read what is there and try again")
	}
	return fault.Wrap("store wake link "+l.ID, err)
}

// newToken makes a token that nobody can guess, with a signature that lets one be refused which was never made without a look at the store.
func (s *service) newToken() string {
	secret := strings.ToLower(rand.Text())
	return secret + "-" + s.signature(secret)
}

func (s *service) signature(secret string) string {
	return identity.Digest(s.p.Settings.CodeKey(), "wake-signature", secret)[:signatureLen]
}

// signed reports whether a token was made here.
func (s *service) signed(token string) bool {
	secret, signature, _ := strings.Cut(token, "-")
	return subtle.ConstantTimeCompare([]byte(signature), []byte(s.signature(secret))) == 1
}

// hash returns what is stored of a token. After a restore of the store from a copy no token of before leads anywhere.
func (s *service) hash(token string) string {
	return identity.Digest(s.p.Settings.CodeKey(), "wake-link", token)
}

// allLinks is the query for the wake links of the caller's organization, newest first.
func allLinks(ctx context.Context) table.Query {
	pk := override.WakeLinkPK(identity.CallerOrg(ctx))
	return table.Query{PK: pk, From: "wake_", To: "wake_~", Reverse: true, Limit: maxLinks}
}

func (s *service) countLinks(ctx context.Context) (int, error) {
	all, _, err := table.ReadPage[link](ctx, s.p.Table, allLinks(ctx))
	return len(all), err
}

func (s *service) listLinks(ctx context.Context, in *struct{ rest.Page }) (rest.List[WakeLink], error) {
	all, _, err := table.ReadPage[link](ctx, s.p.Table, allLinks(ctx))
	if err != nil {
		return rest.List[WakeLink]{}, err
	}
	c := identity.CallerFrom(ctx)
	sees, err := s.targetSight(ctx, c.Scopes(reading))
	if err != nil {
		return rest.List[WakeLink]{}, err
	}
	all = slices.DeleteFunc(all, func(l link) bool {
		return !isOwn(c, l.Maker, l.CreatedBy) && !sees(l.GroupID, l.ResourceID)
	})
	page := rest.PageOf(all, in.Page)
	ends, err := s.endsOf(ctx, c.Org, page.Items)
	return rest.MapItems(page, func(l link) WakeLink {
		out := shownLink(l)
		out.EndedReason = rest.Optional(ends[l.ID])
		return out
	}), err
}

func (s *service) revoke(ctx context.Context, in *struct {
	WakeLinkID string `path:"wakeLinkID" maxLength:"64"`
},
) (rest.Deleted, error) {
	org, missing := identity.CallerOrg(ctx), fault.New(fault.NotFound, "no wake link %.64q", in.WakeLinkID)
	if !id.IsValid("wake", in.WakeLinkID) {
		return rest.Deleted{}, missing
	}
	l, err := table.Read[link](ctx, s.p.Table, override.WakeLinkKey(org, in.WakeLinkID))
	if fault.Is(err, fault.NotFound) {
		return rest.Deleted{}, missing
	}
	if err != nil {
		return rest.Deleted{}, fmt.Errorf("read wake link %s: %w", in.WakeLinkID, err)
	}
	if err = s.mayRevoke(ctx, l); err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: l.ID, Before: shownLink(l), Final: true})
	err = s.p.Table.Transact(table.Within(ctx, override.WakeTokenPrefix),
		override.RemoveWakeLink(org, override.NamedTarget{ID: l.ID, Hash: l.Hash})...)
	return rest.Deleted{ID: l.ID}, fault.Wrap("revoke wake link "+l.ID, err)
}

// mayRevoke refuses a caller who did not make the link and may not act on all that it is for. To a caller who sees nothing of that the link does
// not exist.
func (s *service) mayRevoke(ctx context.Context, l link) error {
	c := identity.CallerFrom(ctx)
	if c.Scopes(writing).All || isOwn(c, l.Maker, l.CreatedBy) {
		return nil
	}
	err := s.coversTarget(ctx, l.GroupID, l.ResourceUID)
	if fault.Is(err, fault.NotFound) {
		err = fault.New(fault.NotFound, "no wake link %.64q", l.ID)
	}
	return err
}

// quota is how often the link may be used in a day.
func (l link) quota() ratelimit.Rule {
	return ratelimit.Rule{Name: "wake-link", Max: int64(l.PerDay), Per: 24 * time.Hour}
}
