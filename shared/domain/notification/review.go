package notification

import (
	"context"

	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/table"
)

// Subjects returns the channels, the legacy configurations and the subscriptions of an organization that a review
// checks. It takes three round trips, and one for each further megabyte of subscriptions.
func (s *Store) Subjects(ctx context.Context, org string, j *receiver.Judge) ([]receiver.Subject, error) {
	channels, err := s.ListChannels(ctx, org)
	if err != nil {
		return nil, err
	}
	var out []receiver.Subject
	for i := range channels {
		c := &channels[i]
		out = append(out, receiver.Subject{
			Noun: "notification channel", ID: c.ID, Name: c.Name, Made: c.Made, Key: ChannelKey(org, c.ID),
			Unchanged: table.Equal("generation", c.Generation),
		})
	}
	legacies, err := s.ListLegacy(ctx, org)
	if err != nil {
		return nil, err
	}
	for i := range legacies {
		l := &legacies[i]
		out = append(out, receiver.Subject{
			Noun: "notification configuration", ID: l.ID, Name: string(l.Channel), Made: l.Made, Keys: l.Keys(),
			Key:       legacyKey(org, l.ID),
			Unchanged: table.Equal("generation", l.Generation), Lists: l.listsOf(org),
		})
	}
	err = s.EachSubscription(ctx, org, func(sub *Subscription) {
		if j.Concerns(&sub.Made, "") {
			out = append(out, receiver.Subject{
				Noun: "subscription", ID: sub.ID, Name: sub.EventType, Made: sub.Made, Keys: []string{sub.EventType},
				Key:       subscriptionKey(org, sub.ID),
				Unchanged: table.Equal("generation", sub.Generation), Lists: sub.listsOf(org),
			})
		}
	})
	return out, err
}

// listsOf returns a function that makes the writes to the list of receivers when the subscription gets a new maker.
func (s *Subscription) listsOf(org string) func(receiver.Made) ([]table.Write, error) {
	old := *s
	return func(made receiver.Made) ([]table.Write, error) {
		next := old
		next.Made = made
		change := []table.Change{table.Set(next.ChannelID, next.listed())}
		return []table.Write{table.Update(recipientsKey(org, next.EventType, next.Scope()), change, old.is())}, nil
	}
}

// listsOf does the same for the lists of receivers that contain the configuration.
func (l *Legacy) listsOf(org string) func(receiver.Made) ([]table.Write, error) {
	old := *l
	return func(made receiver.Made) ([]table.Write, error) {
		next := old
		next.Made = made
		var out []table.Write
		for _, s := range legacyLists(org, &old, &next) {
			out = append(out, s.Write)
		}
		return out, nil
	}
}
