package notifier

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/delivery"
)

// Everybody returns the receivers that users can name.
func Everybody(p *platform.Platform) Receivers {
	out := Receivers{Senders: map[delivery.Kind]delivery.Sender{}, Health: map[delivery.Kind]delivery.HealthRecorder{}}
	out.addPrograms(p)
	return out
}
