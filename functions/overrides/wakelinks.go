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

// These constants bound wake links.
const (
	maxLinks     = 100 // of an organization
	longestLink  = 365 * 24 * time.Hour
	usualLink    = 30 * 24 * time.Hour
	usualHours   = 12
	usualPerDay  = 3
	signatureLen = 16
)

// link is a stored wake link. Its token is not stored: only a keyed hash of the token leads to the link.
type link struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	GroupID    string `json:"groupID,omitempty"`
	ResourceID string `json:"resourceID,omitempty"`
	MaxHours   int    `json:"maxHours"`
	PerDay     int    `json:"perDay"`
	CreatedBy  string `json:"createdBy"`
	// the user who created it; older links have only the mail address in CreatedBy
	Maker       string    `json:"maker,omitempty"`
	CreatedAt   time.Time `json:"createdAt"`
	ExpiresAt   time.Time `json:"expiresAt"`
	Hash        string    `json:"hash"`
	LastUsedAt  time.Time `json:"lastUsedAt,omitzero"`
	Starts      int64     `json:"starts"`
	Force       bool      `json:"force,omitempty"`
	ResourceUID string    `json:"resourceUID,omitempty"`
}

// tokenTarget is the record that the hash of a token leads to.
type tokenTarget struct {
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
	EndedReason  *string    `json:"endedReason" doc:"Why it starts nothing although it has not expired: its creator has left the organization, has lost overrides:write, or may not act on its resources; null while it works"`
	Force        bool       `json:"force" doc:"It also stops targets of active event readiness plans at its end"`
}

// NewLink is a wake link with the address of its page, which is shown only once.
type NewLink struct {
	WakeLink
	URL string `json:"url" doc:"To be handed out. It is shown only once: the service stores a hash of it"`
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
	Name         string    `json:"name,omitempty" maxLength:"128" doc:"The title of the page"`
	MaxHours     int       `json:"maxHours,omitempty" minimum:"1" maximum:"168" default:"12" doc:"Maximum hours from a start to its stop"`
	StartsPerDay int       `json:"startsPerDay,omitempty" minimum:"1" maximum:"100" default:"3" doc:"Starts in a day (UTC)"`
	ExpiresAt    rest.Time `json:"expiresAt,omitzero" doc:"Within a year; in 30 days when absent"`
	Force        bool      `json:"force,omitempty" doc:"Stop also targets of active event readiness plans at its end; needs actions:execute on every resource, and is audited"`
}

const linkWords = "The answer contains, only once, the address of a page that needs no log-in. The page shows the " +
	"resources that the link starts and until when; looking at it changes nothing. Its button starts them by an " +
	"override force_on, which ends with a stop: at the next stop of their schedules, at the latest after maxHours. " +
	"Everybody who has the address can use it: revoke a lost link. The link does nothing while an override holds one " +
	"of its resources off, and, without force, while an active event readiness plan holds one of them beyond that " +
	"end. It starts only resources on which its creator may act (overrides:write) at that moment. It ends when its " +
	"creator leaves the organization or loses that policy on all of its resources. At most 100 links an " +
	"organization: else 409."

func (s *service) linkOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "createGroupWakeLink", Method: http.MethodPost, ShownOnce: "url",
		Path: "/resource-groups/{groupID}/wake-links", Policy: writing, Scoped: true, Statuses: acting,
		Summary: "Create a wake link for a resource group", Description: linkWords,
	}, s.linkGroup)
	rest.Handle(g, rest.Op{
		ID: "createResourceWakeLink", Method: http.MethodPost, ShownOnce: "url",
		Path: "/resources/{resourceID}/wake-links", Policy: writing, Scoped: true, Statuses: acting,
		Summary: "Create a wake link for a resource", Description: linkWords,
	}, s.linkResource)
	rest.Handle(g, rest.Op{
		ID: "listWakeLinks", Method: http.MethodGet, Path: links, Policy: reading, Scoped: true, Statuses: listing,
		Summary: "List wake links",
		Description: "Newest first, without their addresses, which cannot be read again. A caller with a grant on " +
			"teams or resources sees their own links, and the links for resources in it.",
	}, s.listLinks)
	rest.Handle(g, rest.Op{
		ID: "deleteWakeLink", Method: http.MethodDelete, Path: links + "/{wakeLinkID}", Policy: writing, Scoped: true,
		Statuses: found, Summary: "Revoke a wake link",
		Description: "From then on its page is 404. Resources that it has started run until their end: end the " +
			"override to stop them. Its creator can revoke it, and every caller with overrides:write on all of its " +
			"resources.",
	}, s.revokeLink)
}

func (s *service) linkGroup(ctx context.Context, in *struct {
	GroupPath
	Body WakeLinkBody
},
) (NewLink, error) {
	t, err := s.groupOf(ctx, in.GroupID, writing)
	if err == nil {
		err = s.checkActionable(ctx, t, "groupID", in.GroupID)
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
		err = s.checkActionable(ctx, t, "resourceID", in.ResourceID)
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

// resourceByID returns the resource with an ID of ours on which the caller may act.
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

// newLink creates and stores a wake link. holds are the writes that register it as a use of its target.
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
	l.Hash = s.hashToken(token)
	audit.NoteChange(ctx, audit.Change{Target: l.ID, After: shownLink(l), Final: true})
	if err := s.storeLink(ctx, l, holds); err != nil {
		return NewLink{}, err
	}
	return NewLink{shownLink(l), s.p.Settings.BaseURL + "/wake/" + token}, nil
}

// storeLink stores a new link together with holds, the writes that register it as a use of its target. The error is
// fault.Conflict if the organization has too many links, and fault.NotFound without the target. The limit also holds
// for concurrent calls.
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

// writeLink writes a new link and the record of its token, together with more.
func (s *service) writeLink(ctx context.Context, l link, more []table.Write) error {
	org := identity.CallerOrg(ctx)
	row, err := table.NewItem(override.WakeLinkKey(org, l.ID), l)
	if err != nil {
		return err
	}
	way, err := table.NewItem(override.WakeTokenKey(l.Hash), tokenTarget{org, l.ID})
	if err != nil {
		return err
	}
	row.Expires, way.Expires = l.ExpiresAt, l.ExpiresAt
	ws := append([]table.Write{table.Put(row, table.Absent()), table.Put(way, table.Absent())}, more...)
	err = s.p.Table.Transact(table.Within(ctx, override.WakeTokenPrefix), ws...)
	if _, gone := errors.AsType[*table.ConditionError](err); gone && !table.IsTurnLost(err) {
		return fault.NewWithCause(fault.NotFound, err,
			"the target of the wake link was deleted meanwhile; choose an existing one and try again")
	}
	return fault.Wrap("store wake link "+l.ID, err)
}

// newToken returns an unguessable token. Its signature lets the service refuse a made-up token without reading the
// store.
func (s *service) newToken() string {
	secret := strings.ToLower(rand.Text())
	return secret + "-" + s.tokenSignature(secret)
}

func (s *service) tokenSignature(secret string) string {
	return identity.Digest(s.p.Settings.CodeKey(), "wake-signature", secret)[:signatureLen]
}

// isSigned reports whether a token was made by this service.
func (s *service) isSigned(token string) bool {
	secret, signature, _ := strings.Cut(token, "-")
	return subtle.ConstantTimeCompare([]byte(signature), []byte(s.tokenSignature(secret))) == 1
}

// hashToken returns the stored form of a token. After a restore of the store from a copy, earlier tokens are invalid.
func (s *service) hashToken(token string) string {
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

func (s *service) revokeLink(ctx context.Context, in *struct {
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

// mayRevoke refuses a caller who did not create the link and may not act on all of its resources. To a caller who
// sees none of its resources the link does not exist.
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

// dailyQuota is the rule for how often the link may be used in a day.
func (l link) dailyQuota() ratelimit.Rule {
	return ratelimit.Rule{Name: "wake-link", Max: int64(l.PerDay), Per: 24 * time.Hour}
}
