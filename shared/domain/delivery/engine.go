package delivery

import (
	"context"
	"log/slog"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/seal"
)

// Health is the state of a receiver.
type Health struct {
	Failing bool      // a delivery to it was parked, and none has succeeded since
	Gone    bool      // it refuses all further messages for good and must be disabled
	Why     string    // its last response, cleaned; at most 200 characters
	At      time.Time // the time of that response
}

// HealthRecorder stores the health of a receiver in its record and returns the receiver's display name. The engine
// calls it once when a receiver begins to fail and once when it recovers, sometimes more often. RecordHealth returns
// fault.NotFound when the receiver does not exist.
type HealthRecorder interface {
	RecordHealth(ctx context.Context, org string, t Target, h Health) (name string, err error)
}

// Parts are the dependencies of an Engine.
type Parts struct {
	Table    table.Store
	Clock    clock.Clock
	Log      *slog.Logger
	Sealer   seal.Sealer // seals the mails to owners about failing receivers
	Matchers []Matcher
	Senders  map[Kind]Sender
	Health   map[Kind]HealthRecorder // for the kinds of receivers that have records
}

// Engine delivers events to their receivers. Any number of engines may run at once, and each may be killed at any
// time: one engine at a time tries a delivery, and each delivery is created once.
type Engine struct {
	Parts
	store *Store
	gates *gates
}

// NewEngine returns an Engine.
func NewEngine(p Parts) *Engine {
	return &Engine{p, NewStore(table.NewPatientStore(p.Table), p.Clock), newGates()}
}

const (
	// sendTime is the maximum duration of one try.
	sendTime = 10 * time.Second
	// lease is how long an engine owns a delivery. After that, another engine tries it. It is longer than a function
	// lives.
	lease = 75 * time.Second
	// noteTime bounds the write of a try's result. The write is made even if the time of the round is over.
	noteTime = 5 * time.Second
)

// batch is the deliveries of one due row.
type batch struct {
	due     due
	records []Record
	mine    []bool // by index of records: claimed by this engine, to be tried now
}

// within returns a context that may access the engine's data of an organization.
func within(ctx context.Context, org string) context.Context {
	return table.Within(table.WithOrg(ctx, org), DuePrefix)
}
