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

// channelRow is a stored channel. Changes of the channel do not write the additional fields.
type channelRow struct {
	Channel
	Subscriptions int64 `json:"subscriptions"`
	Ended         bool  `json:"ended"` // it is being deleted: it is hidden, and no subscription can be added
}

// ListChannels lists the channels of an organization, oldest first, at most MaxChannels. It takes one round trip.
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

// ReadChannel reads a channel. It returns fault.NotFound when the channel does not exist. It takes one round trip.
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

// MissingChannel returns the error for a channel that does not exist.
func MissingChannel(channelID string) error {
	return fault.New(fault.NotFound, "notification channel %.64q does not exist", channelID)
}

// DecodeChannel decodes a channel. It returns false when the item is empty or the channel is being deleted.
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

// Point sets the address of a channel. It checks and seals the address and clears the broken and failing states.
func (s *Store) Point(ctx context.Context, org string, c *Channel, to Address) error {
	to, err := s.rules.Check(c.Type, to)
	if err != nil {
		return err
	}
	c.FailingAt, c.BrokenAt, c.BrokenWhy, c.Email = time.Time{}, time.Time{}, "", to.Email
	c.Sealed, c.Masked, err = s.seal(ctx, org, c.ID, to.WebhookURL)
	return err
}

// seal returns the address of a chat sealed, for storage, and masked, for display. An empty address gives empty
// results.
func (s *Store) seal(ctx context.Context, org, id, address string) (sealed []byte, masked string, err error) {
	if address == "" {
		return nil, "", nil
	}
	sealed, err = s.sealer.Seal(ctx, seal.Place{Org: org, Kind: Secret, ID: id}, []byte(address))
	return sealed, mask(address), fault.Wrap("seal the address of "+id, err)
}

// open unseals the address of a channel or a legacy configuration.
func (s *Store) open(ctx context.Context, org, id string, sealed []byte) (string, error) {
	if len(sealed) == 0 {
		return "", nil
	}
	plain, err := s.sealer.Open(ctx, seal.Place{Org: org, Kind: Secret, ID: id}, sealed)
	return string(plain), fault.Wrap("open the address of "+id, err)
}

// opening limits the addresses that are unsealed at the same time.
const opening = 16

// Addresses returns the unsealed addresses of channels, in their order. It makes one call to the key service per
// channel of a chat.
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

// CreateChannel stores a new channel. It returns fault.Conflict when another channel has its name, and fault.Invalid
// when there are MaxChannels already, or MaxPersonal of its user.
func (s *Store) CreateChannel(ctx context.Context, org string, next Channel) (Channel, error) {
	steps, err := channelSteps(org, Channel{}, &next)
	if err != nil {
		return next, err
	}
	return next, s.transact(ctx, "write channel "+next.ID, append(steps, countChannel(org, &next))...)
}

// countChannel returns the step that counts a new channel for the organization and, if personal, for its user.
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

// personalCount returns the field that counts the personal channels of c's user, or "" when c belongs to the
// organization.
func (c *Channel) personalCount() string {
	if c.Personal == "" {
		return ""
	}
	return "channels of " + c.Personal
}

// UpdateChannel replaces old, as it was read, by next. It returns fault.Conflict when the channel has changed since,
// or when another channel has the new name.
func (s *Store) UpdateChannel(ctx context.Context, org string, old, next Channel) (Channel, error) {
	steps, err := channelSteps(org, old, &next)
	if err != nil {
		return next, err
	}
	return next, s.transact(ctx, "write channel "+next.ID, steps...)
}

// channelSteps returns the steps that replace old by next and claim its name. A zero old means that next is new.
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
