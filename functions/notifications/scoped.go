package notifications

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/foundation/fault"
)

// owns reports whether a channel belongs to the caller: the caller made it, or it leads to the caller's mailbox.
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

// listNarrow lists the channels that a grant limited to teams or resources shows. These are the caller's own channels,
// with masked addresses, and the channels of the subscriptions that the caller may read, without addresses. It takes
// two round trips, and one for each thousand subscriptions.
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

// hideAddress returns a channel without its address and the texts that may name a person or a place.
func hideAddress(c Channel) Channel {
	c.Config, c.StatusText, c.PausedReason = ChannelConfig{}, "", nil
	return c
}

// reachedChannels returns the IDs of the channels that have a subscription which the caller may read.
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

// changeable returns a channel that the caller may change or delete. A caller with grants limited to teams or
// resources may change the channels that they made. Another channel is fault.Denied if the caller may see it, else
// fault.NotFound.
func (s *service) changeable(ctx context.Context, channelID string) (notification.Channel, error) {
	return s.permitted(ctx, channelID, isMaker)
}

// isMaker reports whether the caller made a channel.
func isMaker(c identity.Caller, ch *notification.Channel) bool {
	return c.User != "" && ch.Maker == c.User
}

// checkRename returns an error if a caller with grants limited to teams or resources renames a channel whose name is
// unique in the organization. A conflict would reveal the name of a channel that the caller may not see.
func checkRename(ctx context.Context, ch *notification.Channel) error {
	if ch.Personal != "" || identity.CallerFrom(ctx).Scopes(writing).All {
		return nil
	}
	return fault.New(fault.Denied,
		"name: channel %s was made with a grant on the whole organization, where names are unique: "+
			"ask somebody who has %s on the whole organization to rename it, or make another channel", ch.ID, writing)
}

// testable returns a channel that the caller may test. With grants limited to teams or resources it must be the
// caller's own.
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

// checkOwner returns an error if a caller with grants limited to teams or resources uses another person's channel. For
// a channel that the caller may not see, it is the error of a missing channel. It makes no round trip unless it
// returns an error.
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
