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

// TokenPath names a wake link in a path, by its token, which is its secret.
type TokenPath struct {
	Token string `path:"token" maxLength:"64" doc:"Of the address that POST …/wake-links answered"`
}

func (s *service) wakeOperations(g *rest.Group) {
	statuses := []int{http.StatusNotFound, http.StatusTooManyRequests}
	rest.Handle(g, rest.Op{
		ID: "getWakePage", Method: http.MethodGet, Path: wakePage, Public: true, Produces: htmlpage.ContentType, Statuses: statuses,
		Summary: "The page of a wake link",
		Description: "Says what the link starts, until when, and what that costs, with a button that does it. " +
			"It changes nothing, however often it is looked at. A token that is wrong, expired or revoked is 404, " +
			"and so is one whose maker may not act on what it is for any more. At most 60 requests in ten minutes " +
			"from one address.",
	}, s.showWake)
	rest.Handle(g, rest.Op{
		ID: "wake", Method: http.MethodPost, Path: wakePage, Public: true, Produces: htmlpage.ContentType,
		Statuses: append(statuses, http.StatusConflict),
		Summary:  "Start what a wake link is for",
		Description: "Until the next stop of its schedules, at most for the link's maxHours. While that lasts, " +
			"another POST starts nothing and counts for nothing. " +
			"Beyond the link's starts a day the answer is 429; while an override holds something of it off, 409, and " +
			"so it is without force while an active event readiness plan holds something of it " +
			"beyond the link's next end.",
	}, s.wake)
}

// pagesPerSource is how many pages of wake links, good or not, one address may ask for: people, not a guesser.
var pagesPerSource = ratelimit.Rule{Name: "wake-source", Max: 60, Per: 10 * time.Minute}

// woken is a link that was opened by its token.
type woken struct {
	link
	org    string
	target evaluation.Target
	until  time.Time     // until when it would run that is started now
	runs   time.Time     // until when it runs that this link has started; zero when it does not
	held   string        // why it cannot be started
	price  string        // what that costs
	maker  string        // the user who made the link
	scopes *grant.Scopes // where the maker may act now; nil is everywhere
}

func (s *service) showWake(ctx context.Context, in *TokenPath) (rest.Raw, error) {
	_, w, err := s.open(ctx, in.Token)
	if err != nil {
		return htmlpage.AnswerFailure(err)
	}
	return w.page(http.StatusOK, ""), nil
}

// open finds the link of a token and what it would do, and confines ctx to its organization.
func (s *service) open(ctx context.Context, token string) (context.Context, woken, error) {
	now := s.p.Clock.Now()
	ok, err := ratelimit.TakeUse(ctx, s.p.Table, now, pagesPerSource, ratelimit.SourceOf(rest.SourceIP(ctx)))
	if err != nil {
		s.p.Log.WarnContext(ctx, "pages of wake links are not counted", "error", err.Error())
	}
	if !ok {
		return ctx, woken{},
			fault.New(fault.Limited, "Too many requests came from your address. Try again in ten minutes.")
	}
	if !s.signed(token) {
		return ctx, woken{}, errNoLink
	}
	at, err := table.Read[place](table.Within(ctx, override.WakeTokenPrefix), s.p.Table,
		override.WakeTokenKey(s.hash(token)))
	if err != nil {
		return ctx, woken{}, noLink(err)
	}
	ctx = table.WithOrg(ctx, at.Org)
	w := woken{org: at.Org}
	if w.link, err = table.Read[link](ctx, s.p.Table, override.WakeLinkKey(at.Org, at.LinkID)); err != nil {
		return ctx, w, noLink(err)
	}
	return ctx, w, s.foresee(ctx, &w, now)
}

var errNoLink = fault.New(fault.NotFound,
	"This link does not work: it is misspelt, has expired, or was revoked. Ask who gave it to you for another one.")

// noLink makes whatever is missing the one answer.
func noLink(err error) error {
	if fault.Is(err, fault.NotFound) {
		return errNoLink
	}
	return fmt.Errorf("read wake link: %w", err)
}

// foresee finds out what the link would start, and until when.
func (s *service) foresee(ctx context.Context, w *woken, now time.Time) (err error) {
	if err = s.findTarget(ctx, w); err != nil {
		return err
	}
	live, err := override.ReadLive(ctx, s.p.Table, w.org)
	if err != nil {
		return err
	}
	for _, h := range live.At(now) {
		if h.WakeLinkID == w.ID {
			w.runs = h.ExpiresAt
		}
	}
	holding, err := live.Holding(ctx, s.inventory, w.org, now)
	if err != nil {
		return err
	}
	for _, m := range w.target.Members {
		if holding.Against(cloud.Start, m.ResourceID) != "" {
			w.held = "It is held off for now by somebody of the organization until " +
				clockTime(holding[m.ResourceID].ExpiresAt) + "."
		}
	}
	w.until, err = s.evaluation.NextStop(ctx, w.org, w.target.Members, now)
	if latest := now.Add(time.Duration(w.MaxHours) * time.Hour); w.until.IsZero() || w.until.After(latest) {
		w.until = latest
	}
	if err != nil {
		return err
	}
	w.checkEvent()
	w.price, err = s.priceOf(ctx, w, now, w.until)
	return err
}

// findTarget finds what the link is for, as far as its maker may act on it now.
func (s *service) findTarget(ctx context.Context, w *woken) (err error) {
	if w.GroupID != "" {
		w.target, err = s.evaluation.GroupTarget(ctx, w.org, w.GroupID)
	} else {
		w.target, err = s.evaluation.ResourceTarget(ctx, w.org, w.ResourceID)
	}
	if err != nil {
		return noLink(err)
	}
	return s.confine(ctx, w)
}

// confine leaves to the link the resources on which its maker may act now. A link whose maker may act on nothing of it has ended.
func (s *service) confine(ctx context.Context, w *woken) (err error) {
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

// makerOf returns the user who made a link. An older link names them by their address: two round trips.
func (s *service) makerOf(ctx context.Context, org string, l link) (string, error) {
	if l.Maker != "" {
		return l.Maker, nil
	}
	u, _, err := membership.New(s.p).FindMember(ctx, org, l.CreatedBy)
	return u.ID, err
}

// checkEvent finds out whether the stop at the end of a start would take something from an active event readiness plan.
func (w *woken) checkEvent() {
	h, _, held := w.target.EventAgainst(cloud.Stop)
	if !held || w.Force || !h.Until.After(w.until) {
		return
	}
	w.held = "It runs already: event readiness plan " + h.PlanID + " of the organization holds it until " +
		clockTime(h.Until) + "."
}

func (s *service) wake(ctx context.Context, in *TokenPath) (rest.Raw, error) {
	ctx, w, err := s.open(ctx, in.Token)
	if err != nil {
		audit.Omit(ctx)
		return htmlpage.AnswerFailure(err)
	}
	audit.NoteActor(ctx, w.org, "", "wake link "+w.ID)
	audit.NoteChange(ctx, audit.Change{Target: w.ID})
	switch {
	case !w.runs.IsZero():
		audit.Omit(ctx)
		return w.page(http.StatusOK, ""), nil
	case w.held != "" || len(w.target.Members) == 0:
		return w.page(http.StatusConflict, ""), nil
	}
	switch err = s.start(ctx, w); {
	case fault.Is(err, fault.Limited):
		return w.page(http.StatusTooManyRequests, fault.Message(err)), nil
	case fault.Is(err, fault.Conflict): // somebody else has pressed the button at the same moment, or an override began
		return s.showWake(ctx, in)
	case err != nil:
		return rest.Raw{}, err
	}
	w.runs = w.until
	return w.page(http.StatusOK, "Starting. It may take some minutes until everything runs."), nil
}

// start holds what the link is for on, and counts that in the same transaction.
func (s *service) start(ctx context.Context, w woken) error {
	now := s.p.Clock.Now()
	o := override.Override{
		ID: override.NewID(now), GroupID: w.GroupID, ResourceID: w.ResourceID, ResourceUID: w.ResourceUID,
		Action: override.ForceOn,
		Reason: "wake link " + w.Name, CreatedBy: w.ID, CreatedAt: now, ExpiresAt: w.until, WakeLinkID: w.ID,
		Maker: w.maker, Scopes: w.scopes, Force: w.Force,
	}
	count := ratelimit.CountWrite(now, w.quota(), w.ID)
	used := table.Update(override.WakeLinkKey(w.org, w.ID),
		[]table.Change{table.Add("starts", 1), table.Set("lastUsedAt", now)}, table.Exists())
	audit.NoteChange(ctx, audit.Change{After: s.shown(o)})
	_, err := s.evaluation.BeginOverride(table.Within(ctx, ratelimit.Prefix), w.org, o, w.target, count, used)
	if refusedAt(err, count.Item.Key) {
		return fault.New(fault.Limited,
			"This link was used %d times today, which is the most. Try again tomorrow (UTC).", w.PerDay)
	}
	return err
}
