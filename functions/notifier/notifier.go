// Package notifier is the worker that tells people and programs of what happens: the table's stream in AWS, and the change feed on a
// laptop, bring it events, and a round each minute tries what is due. It reaches no cloud, only the receivers that users name.
package notifier

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/delivery"
)

// Receivers are who is told, and how: the matchers and senders of all kinds of receivers.
type Receivers struct {
	Matchers []delivery.Matcher
	Senders  map[delivery.Kind]delivery.Sender
	Health   map[delivery.Kind]delivery.HealthRecorder
}

// New makes the engine that brings events to the receivers.
func New(p *platform.Platform, r Receivers) *delivery.Engine {
	return delivery.NewEngine(delivery.Parts{
		Table: p.Table, Clock: p.Clock, Log: p.Log, Sealer: p.Sealer, Matchers: r.Matchers, Senders: r.Senders, Health: r.Health,
	})
}
