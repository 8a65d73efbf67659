// Package notifier is the worker that delivers events to people and programs. The table's stream in AWS, or the change
// feed on a laptop, delivers the events to it, and a round each minute retries those that are due. It calls no cloud,
// only the receivers that users configure.
package notifier

import (
	"context"
	"errors"
	"sync"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/delivery"
)

// Receivers are the matchers and senders of all kinds of receivers.
type Receivers struct {
	Matchers []delivery.Matcher
	Senders  map[delivery.Kind]delivery.Sender
	Health   map[delivery.Kind]delivery.HealthRecorder
}

// Notifier delivers events to receivers, and pauses receivers whose makers may not read the events any more.
type Notifier struct {
	*delivery.Engine
	reviews *reviewer
}

// New returns a Notifier for the receivers.
func New(p *platform.Platform, r Receivers) *Notifier {
	return &Notifier{delivery.NewEngine(delivery.Parts{
		Table: p.Table, Clock: p.Clock, Log: p.Log, Sealer: p.Sealer, Matchers: r.Matchers, Senders: r.Senders,
		Health: r.Health,
	}), newReviewer(p)}
}

// Round retries due deliveries and, concurrently, does the requested reviews of rights. Call it each minute or more
// often.
func (n *Notifier) Round(ctx context.Context) error {
	var reviewed error
	var both sync.WaitGroup
	both.Go(func() { reviewed = n.reviews.Round(ctx) })
	err := n.Engine.Round(ctx)
	both.Wait()
	return errors.Join(err, reviewed)
}
