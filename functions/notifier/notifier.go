// Package notifier is the worker that tells people and programs of what happens: the table's stream in AWS, and the change feed on a
// laptop, bring it events, and a round each minute tries what is due. It reaches no cloud, only the receivers that users name.
package notifier

import (
	"context"
	"errors"
	"sync"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/delivery"
)

// Receivers are who is told, and how: the matchers and senders of all kinds of receivers.
type Receivers struct {
	Matchers []delivery.Matcher
	Senders  map[delivery.Kind]delivery.Sender
	Health   map[delivery.Kind]delivery.HealthRecorder
}

// Notifier brings events to receivers, and pauses those whose makers may not read them any more.
type Notifier struct {
	*delivery.Engine
	reviews *reviewer
}

// New makes what brings events to the receivers.
func New(p *platform.Platform, r Receivers) *Notifier {
	return &Notifier{delivery.NewEngine(delivery.Parts{
		Table: p.Table, Clock: p.Clock, Log: p.Log, Sealer: p.Sealer, Matchers: r.Matchers, Senders: r.Senders,
		Health: r.Health,
	}), newReviewer(p)}
}

// Round tries what is due, and does the reviews of rights that are asked for, side by side. Call it each minute or more often.
func (n *Notifier) Round(ctx context.Context) error {
	var reviewed error
	var both sync.WaitGroup
	both.Go(func() { reviewed = n.reviews.Round(ctx) })
	err := n.Engine.Round(ctx)
	both.Wait()
	return errors.Join(err, reviewed)
}
