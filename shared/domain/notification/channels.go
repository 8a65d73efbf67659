package notification

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
)

// channelRow is a channel as it is stored: with what is counted of it, which its own changes leave alone.
type channelRow struct {
	Channel
	Subscriptions int64 `json:"subscriptions"`
	Ended         bool  `json:"ended"` // it is being deleted: nobody sees it, and nothing is added to it
}

// ListChannels lists the channels of an organization, oldest first: never more than MaxChannels, in one round trip.
func (s *Store) ListChannels(ctx context.Context, org string) ([]Channel, error) {
	rows, err := listAll[channelRow](ctx, s.table, ChannelKey(org, "").PK, "chn_")
	if err != nil {
		return nil, fmt.Errorf("list channels of %s: %w", org, err)
	}
	out := make([]Channel, 0, len(rows))
	for i := range rows {
		if !rows[i].Ended {
			out = append(out, rows[i].Channel)
		}
	}
	return out, nil
}

// ReadChannel reads a channel; fault.NotFound when there is none. One round trip.
func (s *Store) ReadChannel(ctx context.Context, org, channelID string) (Channel, error) {
	row, err := s.channelRow(ctx, org, channelID)
	if err == nil && row.Ended {
		err = MissingChannel(channelID)
	}
	return row.Channel, err
}

func (s *Store) channelRow(ctx context.Context, org, channelID string) (channelRow, error) {
	row, err := table.Read[channelRow](ctx, s.table, ChannelKey(org, channelID))
	if fault.Is(err, fault.NotFound) {
		return row, MissingChannel(channelID)
	}
	return row, fault.Wrap("read channel "+channelID, err)
}

// MissingChannel is the error of a channel that does not exist.
func MissingChannel(channelID string) error {
	return fault.New(fault.NotFound, "notification channel %.64q does not exist", channelID)
}

// DecodeChannel returns the channel of a row; false when there is no row, or the channel is being deleted.
func DecodeChannel(it table.Item) (Channel, bool) {
	if it.Data == nil {
		return Channel{}, false
	}
	row, err := table.Decode[channelRow](it)
	return row.Channel, err == nil && !row.Ended
}

func changedChannel(channelID string) error {
	return fault.New(fault.Conflict, "channel %s was changed by someone else meanwhile; read it and try again",
		channelID)
}

// Point makes a channel lead to an address, which it checks and seals. What was broken is whole then.
func (s *Store) Point(ctx context.Context, org string, c *Channel, to Address) error {
	to, err := s.rules.Check(c.Type, to)
	if err != nil {
		return err
	}
	c.FailingAt, c.BrokenAt, c.BrokenWhy, c.Email = time.Time{}, time.Time{}, "", to.Email
	c.Sealed, c.Masked, err = s.seal(ctx, org, c.ID, to.WebhookURL)
	return err
}

// seal returns the address of a chat as it is stored and as it is shown; nothing of no address.
func (s *Store) seal(ctx context.Context, org, id, address string) (sealed []byte, masked string, err error) {
	if address == "" {
		return nil, "", nil
	}
	sealed, err = s.sealer.Seal(ctx, seal.Place{Org: org, Kind: Secret, ID: id}, []byte(address))
	return sealed, mask(address), fault.Wrap("seal the address of "+id, err)
}

// open returns what was sealed for a channel or a legacy configuration.
func (s *Store) open(ctx context.Context, org, id string, sealed []byte) (string, error) {
	if len(sealed) == 0 {
		return "", nil
	}
	plain, err := s.sealer.Open(ctx, seal.Place{Org: org, Kind: Secret, ID: id}, sealed)
	return string(plain), fault.Wrap("open the address of "+id, err)
}

// opening is how many addresses are opened side by side.
const opening = 16

// Addresses opens what channels lead to, in their order: one call to the key service for each that has an address of a
// chat.
func (s *Store) Addresses(ctx context.Context, org string, cs ...Channel) ([]Address, error) {
	out := make([]Address, len(cs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(opening)
	for i := range cs {
		g.Go(func() (err error) {
			out[i].Email = cs[i].Email
			out[i].WebhookURL, err = s.open(ctx, org, cs[i].ID, cs[i].Sealed)
			return err
		})
	}
	return out, g.Wait()
}

// CreateChannel stores a new channel; fault.Conflict when another one has its name, fault.Invalid when there are
// MaxChannels, or MaxPersonal of its user.
func (s *Store) CreateChannel(ctx context.Context, org string, next Channel) (Channel, error) {
	steps, err := channelSteps(org, Channel{}, &next)
	if err != nil {
		return next, err
	}
	return next, s.transact(ctx, "write channel "+next.ID, append(steps, countChannel(org, &next))...)
}

// countChannel counts a new channel, of the organization and of the user whose own it is.
func countChannel(org string, c *Channel) step {
	out := counted(org, "channels", 1, MaxChannels)
	if field := c.personalCount(); field != "" {
		out.Changes = append(out.Changes, table.Add(field, 1))
		out.If = append(out.If, table.Any(table.Lacks(field), table.LessEqual(field, MaxPersonal-1)))
		out.refused = fault.New(fault.Invalid,
			"you would have more than %d channels of your own, or the organization more than %d: delete some first",
			MaxPersonal, MaxChannels)
	}
	return out
}

// personalCount returns the field that counts the channels of the user whose own c is; "" when c is the organization's.
func (c *Channel) personalCount() string {
	if c.Personal == "" {
		return ""
	}
	return "channels of " + c.Personal
}

// UpdateChannel replaces old, as it was read, by next; fault.Conflict when it has changed since, or another one has
// its new name.
func (s *Store) UpdateChannel(ctx context.Context, org string, old, next Channel) (Channel, error) {
	steps, err := channelSteps(org, old, &next)
	if err != nil {
		return next, err
	}
	return next, s.transact(ctx, "write channel "+next.ID, steps...)
}

// channelSteps puts next in the place of old, and takes its name; of the zero old it is new.
func channelSteps(org string, old Channel, next *Channel) ([]step, error) {
	conds := []table.Cond{table.Absent()}
	if next.Generation = old.Generation + 1; old.ID != "" {
		conds = []table.Cond{table.Equal("generation", old.Generation), table.Lacks("ended")}
	}
	put, err := table.PutFields(ChannelKey(org, next.ID), *next, conds...)
	if err != nil {
		return nil, err
	}
	steps := []step{{put, changedChannel(next.ID)}}
	names := next.names(org)
	renamed, err := names.Rename(old.Name, next.Name, next.ID)
	for _, w := range renamed {
		steps = append(steps, step{w, names.Taken(next.Name)})
	}
	return steps, err
}
