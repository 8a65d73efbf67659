package notifier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

// reviewer pauses receivers whose makers have lost the right to read events, and informs the owners. Deliveries do not
// wait for it, because the right to read is also checked for each event.
type reviewer struct {
	p         *platform.Platform
	notices   *notification.Store
	webhooks  *receiver.WebhookStore
	services  *receiver.IntegrationStore
	schedules *scheduling.Store
}

func newReviewer(p *platform.Platform) *reviewer {
	return &reviewer{
		p, notification.NewStore(p), receiver.NewWebhookStore(p.Table, p.Sealer),
		receiver.NewIntegrationStore(p.Table, p.Sealer), scheduling.New(p),
	}
}

// reviewTime limits the duration of the reviews in a round; the next round continues.
const reviewTime = 45 * time.Second

// Round does the requested reviews. Each is done independently and repeated after a failure. It is safe to call
// concurrently.
func (r *reviewer) Round(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reviewTime)
	defer cancel()
	all, err := membership.ReadReviews(ctx, r.p.Table)
	if err != nil {
		return err
	}
	var errs []error
	for _, one := range all {
		if ctx.Err() != nil {
			break
		}
		if err = r.review(table.WithOrg(ctx, one.Org), one); err != nil {
			errs = append(errs, fmt.Errorf("review the rights of %s in %s: %w", one.User, one.Org, err))
		}
	}
	return errors.Join(errs...)
}

// review does one review: it finds the receivers to pause, informs the owners once, and then stores the pauses.
func (r *reviewer) review(ctx context.Context, v membership.Review) error {
	if v.User == membership.NoMember {
		return r.attributeUnclaimed(ctx, v)
	}
	pauses, err := r.pauses(ctx, v)
	if err != nil {
		return err
	}
	lines := linesOf(pauses)
	if v.Left && !v.Told {
		more, err := r.leftBehind(ctx, v)
		if err != nil {
			return err
		}
		lines = append(lines, more...)
	}
	if len(lines) > 0 && !v.Told {
		if err = r.tellOwners(ctx, v, lines); err != nil {
			return err
		}
	}
	if err = r.note(ctx, pauses); err != nil {
		return err
	}
	return membership.RemoveReview(ctx, r.p.Table, v)
}

// pauses returns the receivers to pause or to resume.
func (r *reviewer) pauses(ctx context.Context, v membership.Review) ([]receiver.Pause, error) {
	j := &receiver.Judge{Review: v, Table: r.p.Table, Now: r.p.Clock.Now()}
	all, err := r.subjects(ctx, v.Org, j)
	if err != nil {
		return nil, err
	}
	return j.Pauses(ctx, all)
}

// subjects returns the receivers of an organization that a review may concern.
func (r *reviewer) subjects(ctx context.Context, org string, j *receiver.Judge) ([]receiver.Subject, error) {
	all, err := r.notices.Subjects(ctx, org, j)
	if err != nil {
		return nil, err
	}
	hooks, err := r.webhooks.Subjects(ctx, org)
	if err != nil {
		return nil, err
	}
	services, err := r.services.Subjects(ctx, org)
	return slices.Concat(all, hooks, services), err
}

// linesOf returns a line for each receiver that this review pauses.
func linesOf(pauses []receiver.Pause) []string {
	var out []string
	for i := range pauses {
		if p := &pauses[i]; p.New {
			out = append(out, line(p.Noun, p.Name, p.ID, "is paused: "+p.Made.PausedWhy))
		}
	}
	return out
}

func line(noun, name, id, what string) string {
	return fmt.Sprintf("%s %q (%s) %s", noun, mail.HarmlessName(name), id, what)
}

// leftBehind returns a line for each schedule and each live override of a user who has left. It returns no lines for a
// user who is a member again.
func (r *reviewer) leftBehind(ctx context.Context, v membership.Review) ([]string, error) {
	callers, err := membership.ReadCallers(ctx, r.p.Table, v.Org, v.User)
	if err != nil || callers[v.User].User != "" {
		return nil, err
	}
	all, err := r.schedules.ListSchedules(ctx, v.Org)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range all {
		if all[i].Maker == v.User {
			out = append(out,
				line("schedule", all[i].Name, all[i].ID, "stays and goes on; its maker, "+v.Email+", has left"))
		}
	}
	live, err := override.ReadLive(ctx, r.p.Table, v.Org)
	for _, h := range live.At(r.p.Clock.Now()) {
		if h.Maker == v.User {
			out = append(out,
				line("override", string(h.Action), h.ID, "holds nothing any more; its maker, "+v.Email+", has left"))
		}
	}
	return out, err
}

// maxLines is the most lines of a mail; it gives the number of further lines.
const maxLines = 30

// tellOwners queues the mails to the owners and marks the review as told, in one transaction. A concurrent second call
// changes nothing.
func (r *reviewer) tellOwners(ctx context.Context, v membership.Review, lines []string) error {
	owners, err := identity.OwnerAddresses(ctx, r.p.Table, v.Org)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, l := range lines[:min(len(lines), maxLines)] {
		text.WriteString("- " + l + "\n")
	}
	if more := len(lines) - maxLines; more > 0 {
		fmt.Fprintf(&text, "- and %d more\n", more)
	}
	ws := []table.Write{v.MarkTold()}
	for _, to := range owners {
		w, err := mail.QueueMail(ctx, r.p.Sealer, r.p.Clock.Now(), mail.Mail{
			Template: mail.RightsEnded, To: to, Org: v.Org, Data: map[string]string{"what": text.String()},
		})
		if err != nil {
			return fmt.Errorf("tell the owners of %s: %w", v.Org, err)
		}
		ws = append(ws, w)
	}
	err = r.p.Table.Transact(table.Within(ctx, mail.Prefix, membership.ReviewPrefix), ws...)
	if _, told := errors.AsType[*table.ConditionError](err); told {
		return nil
	}
	return fault.Wrap("tell the owners of "+v.Org, err)
}

// noted is the most pauses in one transaction.
const noted = 50

// note stores pauses. It skips a receiver that was changed in the meantime: it has another maker, or another review
// covers it.
func (r *reviewer) note(ctx context.Context, pauses []receiver.Pause) error {
	for some := range slices.Chunk(pauses, noted) {
		ws := make([]table.Write, len(some))
		for i := range some {
			ws[i] = some[i].Write
		}
		err := r.p.Table.Transact(ctx, ws...)
		if _, changed := errors.AsType[*table.ConditionError](err); changed {
			err = r.noteEach(ctx, ws)
		}
		if err != nil {
			return fault.Wrap("note which receivers are paused", err)
		}
	}
	return nil
}

func (r *reviewer) noteEach(ctx context.Context, ws []table.Write) error {
	for _, w := range ws {
		_, err := r.p.Table.Write(ctx, w)
		if _, changed := errors.AsType[*table.ConditionError](err); err != nil && !changed {
			return err
		}
	}
	return nil
}
