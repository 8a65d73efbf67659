package delivery

import (
	"context"
	"log/slog"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/seal"
)

// Health is how a receiver stands.
type Health struct {
	Failing bool      // a delivery to it was parked, and nothing has reached it since
	Gone    bool      // it will never take anything again: it is to be disabled
	Why     string    // what it said last, cleaned; at most 200 characters
	At      time.Time // since when
}

// HealthRecorder notes on the record of a receiver how it stands, and returns what people call it. It is told once when a receiver begins to
// fail, and once when something reaches it again; now and then more often. A receiver that is not there any more is fault.NotFound.
type HealthRecorder interface {
	RecordHealth(ctx context.Context, org string, t Target, h Health) (name string, err error)
}

// Parts are what an engine is made of.
type Parts struct {
	Table    table.Store
	Clock    clock.Clock
	Log      *slog.Logger
	Sealer   seal.Sealer // of the mails that tell owners of receivers that fail
	Matchers []Matcher
	Senders  map[Kind]Sender
	Health   map[Kind]HealthRecorder // those of the kinds that have records
}

// Engine brings events to their receivers. Any number of them may run at once, and any may be killed: a delivery is tried by one at a time,
// and made once.
type Engine struct {
	Parts
	store *Store
	gates *gates
}

// NewEngine makes an engine.
func NewEngine(p Parts) *Engine {
	return &Engine{p, NewStore(table.NewPatientStore(p.Table), p.Clock), newGates()}
}

const (
	// sendTime is how long one try may take.
	sendTime = 10 * time.Second
	// lease is for how long a delivery belongs to who has taken it; then it is tried by another. It is longer than a function lives.
	lease = 75 * time.Second
	// noteTime bounds the note of what became of a try, which is made though the time of the round is over.
	noteTime = 5 * time.Second
)

// batch is deliveries that one row of what is due sees to.
type batch struct {
	due     due
	records []Record
	mine    []bool // which of them are taken, to be tried now
}

// within lets ctx touch what the engine writes of an organization.
func within(ctx context.Context, org string) context.Context {
	return table.Within(table.WithOrg(ctx, org), DuePrefix)
}
