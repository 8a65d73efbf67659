package overrides

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/htmlpage"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

// TokenPath names a wake link in a path by its secret token.
type TokenPath struct {
	Token string `path:"token" maxLength:"64" doc:"Of the address that POST …/wake-links answered"`
}

func (s *service) wakeOperations(g *rest.Group) {
	statuses := []int{http.StatusNotFound, http.StatusTooManyRequests}
	rest.Handle(g, rest.Op{
		ID: "getWakePage", Method: http.MethodGet, Path: wakePage, Public: true, Produces: htmlpage.ContentType,
		Statuses: statuses,
		Summary:  "Show the page of a wake link",
		Description: "Shows the resources that the link starts, until when, the cost, and a button that starts them. " +
			"Looking at it changes nothing. A wrong, expired or revoked token is 404; so is a link whose creator may " +
			"no longer act on its resources. At most 60 requests in ten minutes from one address.",
	}, s.showWake)
	rest.Handle(g, rest.Op{
		ID: "wake", Method: http.MethodPost, Path: wakePage, Public: true, Produces: htmlpage.ContentType,
		Statuses: append(statuses, http.StatusConflict),
		Summary:  "Start the resources of a wake link",
		Description: "They run until the next stop of their schedules, at most for the link's maxHours. During that " +
			"time another POST starts nothing and does not count. More starts than the link's starts a day are 429. " +
			"While an override holds one of its resources off, the answer is 409; without force also while an active " +
			"event readiness plan holds one of them beyond the end of the start.",
	}, s.wakeTarget)
}

// pagesPerSource limits how many pages of wake links, valid or not, one address may request. It is enough for people,
// and too little for guessing.
var pagesPerSource = ratelimit.Rule{Name: "wake-source", Max: 60, Per: 10 * time.Minute}

// openedLink is a link opened by its token, with the effect of a start.
type openedLink struct {
	link
	org           string
	target        evaluation.Target
	wouldRunUntil time.Time     // until when it would run that is started now
	runsUntil     time.Time     // until when it runs that this link has started; zero when it does not
	blocked       string        // why it cannot be started
	price         string        // the cost until then
	maker         string        // the user who made the link
	scopes        *grant.Scopes // where the maker may act now; nil is everywhere
}

func (s *service) showWake(ctx context.Context, in *TokenPath) (rest.Raw, error) {
	_, w, err := s.openLink(ctx, in.Token)
	if err != nil {
		return htmlpage.AnswerFailure(err)
	}
	return w.pageOf(http.StatusOK, ""), nil
}

// openLink finds the link of a token and the effect of a start, and confines ctx to its organization.
func (s *service) openLink(ctx context.Context, token string) (context.Context, openedLink, error) {
	now := s.p.Clock.Now()
	ok, err := ratelimit.TakeUse(ctx, s.p.Table, now, pagesPerSource, ratelimit.SourceOf(rest.SourceIP(ctx)))
	if err != nil {
		s.p.Log.WarnContext(ctx, "pages of wake links are not counted", "error", err.Error())
	}
	if !ok {
		return ctx, openedLink{},
			fault.New(fault.Limited, "Too many requests came from your address. Try again in ten minutes.")
	}
	if !s.isSigned(token) {
		return ctx, openedLink{}, errNoLink
	}
	at, err := table.Read[tokenTarget](table.Within(ctx, override.WakeTokenPrefix), s.p.Table,
		override.WakeTokenKey(s.hashToken(token)))
	if err != nil {
		return ctx, openedLink{}, noLink(err)
	}
	ctx = table.WithOrg(ctx, at.Org)
	w := openedLink{org: at.Org}
	if w.link, err = table.Read[link](ctx, s.p.Table, override.WakeLinkKey(at.Org, at.LinkID)); err != nil {
		return ctx, w, noLink(err)
	}
	return ctx, w, s.foreseeStart(ctx, &w, now)
}

var errNoLink = fault.New(fault.NotFound,
	"This link does not work: it is misspelt, has expired, or was revoked. Ask who gave it to you for another one.")

// noLink returns the same answer for every missing record.
func noLink(err error) error {
	if fault.Is(err, fault.NotFound) {
		return errNoLink
	}
	return fmt.Errorf("read wake link: %w", err)
}

// foreseeStart finds the resources that the link would start, and the end of that start.
func (s *service) foreseeStart(ctx context.Context, w *openedLink, now time.Time) (err error) {
	if err = s.findTarget(ctx, w); err != nil {
		return err
	}
	live, err := override.ReadLive(ctx, s.p.Table, w.org)
	if err != nil {
		return err
	}
	for _, h := range live.At(now) {
		if h.WakeLinkID == w.ID {
			w.runsUntil = h.ExpiresAt
		}
	}
	holding, err := live.Holding(ctx, s.inventory, w.org, now)
	if err != nil {
		return err
	}
	for _, m := range w.target.Members {
		if holding.Against(cloud.Start, m.ResourceID) != "" {
			w.blocked = "It is held off for now by somebody of the organization until " +
				clockTime(holding[m.ResourceID].ExpiresAt) + "."
		}
	}
	w.wouldRunUntil, err = s.evaluation.NextStop(ctx, w.org, w.target.Members, now)
	if latest := now.Add(time.Duration(w.MaxHours) * time.Hour); w.wouldRunUntil.IsZero() ||
		w.wouldRunUntil.After(latest) {
		w.wouldRunUntil = latest
	}
	if err != nil {
		return err
	}
	w.checkEvent()
	w.price, err = s.priceOf(ctx, w, now, w.wouldRunUntil)
	return err
}

// findTarget finds the resources of the link on which its creator may act now.
func (s *service) findTarget(ctx context.Context, w *openedLink) (err error) {
	if w.GroupID != "" {
		w.target, err = s.evaluation.GroupTarget(ctx, w.org, w.GroupID)
	} else {
		w.target, err = s.evaluation.ResourceTarget(ctx, w.org, w.ResourceID)
	}
	if err != nil {
		return noLink(err)
	}
	return s.confineToMaker(ctx, w)
}

// confineToMaker reduces the link to the resources on which its creator may act now. If there are none, the link has
// ended.
func (s *service) confineToMaker(ctx context.Context, w *openedLink) (err error) {
	if w.maker, err = s.makerOf(ctx, w.org, w.link); err != nil {
		return noLink(err)
	}
	scopes, err := s.inventory.MakerScopes(ctx, w.org, override.Policy, w.maker)
	if err != nil || scopes.All {
		return err
	}
	may, err := s.inventory.ResourceSets(ctx, w.org, scopes)
	if err != nil {
		return err
	}
	left := len(w.target.LeftOut) + len(w.target.Members)
	w.scopes = &scopes
	w.target.Members, _ = execution.Within(w.target.Members, may[0])
	w.target.LeftOut = slices.DeleteFunc(w.target.LeftOut, func(l execution.LeftOut) bool {
		return !may[0].HasUID(l.UID)
	})
	if scopes.None() || left > 0 && len(w.target.LeftOut)+len(w.target.Members) == 0 {
		return errNoLink
	}
	return nil
}

// makerOf returns the user who created a link. An older link names its creator by mail address, which takes two round
// trips.
func (s *service) makerOf(ctx context.Context, org string, l link) (string, error) {
	if l.Maker != "" {
		return l.Maker, nil
	}
	u, _, err := membership.New(s.p).FindMember(ctx, org, l.CreatedBy)
	return u.ID, err
}

// checkEvent finds out whether the stop at the end of a start would hit a target of an active event readiness plan.
func (w *openedLink) checkEvent() {
	h, _, held := w.target.EventAgainst(cloud.Stop)
	if !held || w.Force || !h.Until.After(w.wouldRunUntil) {
		return
	}
	w.blocked = "It runs already: event readiness plan " + h.PlanID + " of the organization holds it until " +
		clockTime(h.Until) + "."
}

func (s *service) wakeTarget(ctx context.Context, in *TokenPath) (rest.Raw, error) {
	ctx, w, err := s.openLink(ctx, in.Token)
	if err != nil {
		audit.Omit(ctx)
		return htmlpage.AnswerFailure(err)
	}
	audit.NoteActor(ctx, w.org, "", "wake link "+w.ID)
	audit.NoteChange(ctx, audit.Change{Target: w.ID})
	switch {
	case !w.runsUntil.IsZero():
		audit.Omit(ctx)
		return w.pageOf(http.StatusOK, ""), nil
	case w.blocked != "" || len(w.target.Members) == 0:
		return w.pageOf(http.StatusConflict, ""), nil
	}
	switch err = s.startTarget(ctx, w); {
	case fault.Is(err, fault.Limited):
		return w.pageOf(http.StatusTooManyRequests, fault.Message(err)), nil
	case fault.Is(err, fault.Conflict): // somebody else has pressed the button at the same moment, or an override began
		return s.showWake(ctx, in)
	case err != nil:
		return rest.Raw{}, err
	}
	w.runsUntil = w.wouldRunUntil
	return w.pageOf(http.StatusOK, "Starting. It may take some minutes until everything runs."), nil
}

// startTarget creates the override that holds the link's target on, and counts the use in the same transaction.
func (s *service) startTarget(ctx context.Context, w openedLink) error {
	now := s.p.Clock.Now()
	o := override.Override{
		ID: override.NewID(now), GroupID: w.GroupID, ResourceID: w.ResourceID, ResourceUID: w.ResourceUID,
		Action: override.ForceOn,
		Reason: "wake link " + w.Name, CreatedBy: w.ID, CreatedAt: now, ExpiresAt: w.wouldRunUntil, WakeLinkID: w.ID,
		Maker: w.maker, Scopes: w.scopes, Force: w.Force,
	}
	count := ratelimit.CountWrite(now, w.dailyQuota(), w.ID)
	used := table.Update(override.WakeLinkKey(w.org, w.ID),
		[]table.Change{table.Add("starts", 1), table.Set("lastUsedAt", now)}, table.Exists())
	audit.NoteChange(ctx, audit.Change{After: s.showOverride(o)})
	_, err := s.evaluation.BeginOverride(table.Within(ctx, ratelimit.Prefix), w.org, o, w.target, count, used)
	if refusedAt(err, count.Item.Key) {
		return fault.New(fault.Limited,
			"This link was used %d times today, which is the most. Try again tomorrow (UTC).", w.PerDay)
	}
	return err
}
