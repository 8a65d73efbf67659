package notifier

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/notification"
)

// Everybody returns all kinds of receivers that users can configure.
func Everybody(p *platform.Platform) Receivers {
	store := notification.NewStore(p)
	out := Receivers{
		Matchers: []delivery.Matcher{notification.NewMatcher(p)}, Senders: notification.NewSenders(p),
		Health: map[delivery.Kind]delivery.HealthRecorder{delivery.Channel: store, delivery.Legacy: store},
	}
	out.addPrograms(p)
	return out
}
