package notifications

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/foundation/fault"
)

// owns reports whether a channel belongs to the caller: the caller made it, or it leads to the mailbox of the caller.
func owns(c identity.Caller, ch *notification.Channel) bool {
	if isMaker(c, ch) {
		return true
	}
	if ch.Type != notification.Email {
		return false
	}
	address, err := identity.NormalizeAddress(c.Email)
	return err == nil && address == ch.Email
}

// listNarrow lists the channels that a grant on teams or resources shows: the caller's own with their masked addresses,
// and those of the subscriptions that the caller may read, without addresses. Two round trips and one for each thousand
// subscriptions.
func (s *service) listNarrow(ctx context.Context, all []notification.Channel) ([]Channel, error) {
	reached, err := s.reachedChannels(ctx)
	if err != nil {
		return nil, err
	}
	out, c := []Channel{}, identity.CallerFrom(ctx)
	for i := range all {
		switch {
		case owns(c, &all[i]):
			out = append(out, newChannel(&all[i], all[i].Masked))
		case reached[all[i].ID]:
			out = append(out, hideAddress(newChannel(&all[i], "")))
		}
	}
	return out, nil
}

// hideAddress removes from a channel the address and the texts that may name a person or a place.
func hideAddress(c Channel) Channel {
	c.Config, c.StatusText, c.PausedReason = ChannelConfig{}, "", nil
	return c
}

// reachedChannels returns the ids of the channels that have a subscription which the caller may read.
func (s *service) reachedChannels(ctx context.Context) (map[string]bool, error) {
	sees, err := s.sight(ctx, reading)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	err = s.store.EachSubscription(ctx, identity.CallerOrg(ctx), func(sub *notification.Subscription) {
		if sees(sub) {
			out[sub.ChannelID] = true
		}
	})
	return out, err
}

// changeable reads a channel that the caller may change or delete. Who has grants on teams or resources changes the
// channels that they made. Another channel is fault.Denied when the caller sees it, and fault.NotFound else.
func (s *service) changeable(ctx context.Context, channelID string) (notification.Channel, error) {
	return s.permitted(ctx, channelID, isMaker)
}

// isMaker reports whether the caller made a channel.
func isMaker(c identity.Caller, ch *notification.Channel) bool {
	return c.User != "" && ch.Maker == c.User
}

// checkRename refuses to let a caller with grants on teams or resources rename a channel whose name is unique in the
// organization: a conflict would tell the name of a channel that the caller cannot see.
func checkRename(ctx context.Context, ch *notification.Channel) error {
	if ch.Personal != "" || identity.CallerFrom(ctx).Scopes(writing).All {
		return nil
	}
	return fault.New(fault.Denied,
		"name: channel %s was made with a grant on the whole organization, where names are unique: "+
			"ask somebody who has %s on the whole organization to rename it, or make another channel", ch.ID, writing)
}

// testable reads a channel that the caller may send a test to: with grants on teams or resources, one that the caller
// owns.
func (s *service) testable(ctx context.Context, channelID string) (notification.Channel, error) {
	return s.permitted(ctx, channelID, owns)
}

func (s *service) permitted(
	ctx context.Context, channelID string, may func(identity.Caller, *notification.Channel) bool,
) (notification.Channel, error) {
	ch, err := s.channel(ctx, channelID)
	c := identity.CallerFrom(ctx)
	if err != nil || c.Scopes(writing).All || may(c, &ch) {
		return ch, err
	}
	visible, err := s.shows(ctx, c, &ch)
	switch {
	case err != nil:
		return ch, err
	case !visible:
		return ch, notification.MissingChannel(channelID)
	}
	return ch, fault.New(fault.Denied, "channel %s belongs to somebody else, and your grants are on teams or "+
		"resources: "+
		"ask somebody who has %s on the whole organization, or make a channel of your own", channelID, writing)
}

// shows reports whether the list of channels shows a channel to a caller.
func (s *service) shows(ctx context.Context, c identity.Caller, ch *notification.Channel) (bool, error) {
	if c.Scopes(reading).All || owns(c, ch) {
		return true, nil
	}
	reached, err := s.reachedChannels(ctx)
	return reached[ch.ID], err
}

// checkOwner refuses the channel of another person to a caller whose grants are on teams or resources: a channel that
// the caller cannot see as one that does not exist. No round trip unless it refuses.
func (s *service) checkOwner(ctx context.Context, field string, ch *notification.Channel) error {
	c := identity.CallerFrom(ctx)
	if c.Scopes(writing).All || owns(c, ch) {
		return nil
	}
	visible, err := s.shows(ctx, c, ch)
	switch {
	case err != nil:
		return err
	case !visible:
		return noChannel(field, ch.ID)
	}
	return fault.New(fault.Denied,
		"%s: channel %s belongs to somebody else, and your grants are on teams or resources: "+
			"send a channel that you made or an e-mail channel to your own address", field, ch.ID)
}

// noChannel is the error of a field that names a channel which does not exist.
func noChannel(field, channelID string) error {
	return fault.New(fault.Invalid, "%s: %.64q: there is no such channel; send the id of one that exists", field,
		channelID)
}
