package cost

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// The partitions of costs.
const (
	Partition      table.Partition = "ORG#*#COST"
	ChunkPartition table.Partition = "ORG#*#COST#*" // one for each generation of a period; readers of costs read it too
)

// Reading is the table access of questions.
var Reading = table.Access{Reads: []table.Partition{Partition, ChunkPartition}}

// Importing is the table access of imports and Rebuild, which look up resources, teams and groups.
var Importing = table.Access{
	Reads: []table.Partition{
		inventory.IndexPartition, inventory.ChunkPartition,
		identity.MetaPartition, // the setting attributionMonths
	},
	Writes: []table.Partition{Partition, ChunkPartition},
}

// Store stores the costs of organizations.
type Store struct {
	table     table.PatientStore
	clock     clock.Clock
	inventory *inventory.Store
	files     archive.Files // of line items; nil if this process cannot delete any
	cache     *cache
	rolling   worthwhile
}

// New returns the Store of p. It always returns the same one, so that the functions of a process share its cache.
func New(p *platform.Platform) *Store {
	resources := inventory.New(p) // shared as well; the function passed to Shared must not call it
	return platform.Shared(p, func(p *platform.Platform) *Store {
		s := NewStore(p.Table, resources, p.Clock)
		s.files = p.Lines
		return s
	})
}

// NewStore returns a Store with its own cache.
func NewStore(t table.Store, i *inventory.Store, c clock.Clock) *Store {
	return &Store{
		table: table.NewPatientStore(t), clock: c, inventory: i, cache: newCache(cacheBytes()),
		rolling: usually,
	}
}

// The sort keys in the partition of an organization's costs.
const (
	periodPrefix   = "P#" // P#<month>#<account>, with #E of an estimate: the pointer of a period
	summaryPrefix  = "S#" // S#<month>
	itemsPrefix    = "L#" // L#<month>#<account>: the location of a period's line items
	replacedPrefix = "R#" // R#<month>#<account>#<fingerprint>: the period that a withdrawable delivery replaced
	idlePrefix     = "G#" // G#<generation>: one that no pointer names, or not yet
)

// PK returns the partition of the pointers and summaries of an organization.
func PK(org string) string { return table.OrgPK(org) + "COST" }

func key(org, sk string) table.Key { return table.Key{PK: PK(org), SK: sk} }

func periodKey(org string, m Month, accountID string, estimated bool) table.Key {
	sk := periodPrefix + m.String() + "#" + accountID
	if estimated {
		sk += "#E"
	}
	return key(org, sk)
}

// pointer is the present state of a period: its generation, and the location of its columns.
type pointer struct {
	Period
	// the sub-accounts on the bill, one on each line, compressed; empty if the bill contains only Native
	Subs   []byte `json:"subs,omitempty"`
	Shared string `json:"shared,omitempty"` // the billing account, for charges without a sub-account
	Seq    int64  `json:"seq"`              // incremented by each change; each change is conditional on it
	Stamps string `json:"stamps"`           // the generation of the stamps and the rollup: Rebuild writes new ones
	// Definitions identifies the teams and groups that the stamps follow (inventory.Directory.Definitions)
	Definitions string  `json:"definitions,omitempty"`
	Blocks      []block `json:"blocks"`
	// Exact reports that amounts in other currencies are converted exactly: see exactPlaces. An earlier version did not
	// set it.
	Exact bool `json:"exact,omitempty"`
	// Withdrawable reports that Withdraw can restore the period that the delivery replaced.
	Withdrawable bool `json:"withdrawable,omitempty"`
	// LineItems reports whether the generation has line items as files.
	LineItems bool `json:"lineItems,omitempty"`
	// the lines without resources and tags, in the generation of the stamps; absent if it is not worthwhile
	Rollup []block `json:"rollup,omitempty"`
}

// block is up to blockLines lines of a period.
type block struct {
	Lines int            `json:"n"`
	Parts map[string]int `json:"p"` // items of each family of columns
}

// readPointers reads the pointers of the months from … to: one round trip for each megabyte.
func (s *Store) readPointers(ctx context.Context, org string, from, to Month) ([]pointer, error) {
	var out []pointer
	q := table.Query{
		PK: PK(org), From: periodPrefix + from.String(), To: periodPrefix + to.String() + "~",
		Limit: table.MaxPage,
	}
	for {
		some, next, err := table.ReadPage[pointer](ctx, s.table, q)
		if err != nil {
			return nil, fmt.Errorf("read billing periods of %s: %w", org, err)
		}
		out = append(out, some...)
		if q.Cursor = next; next == "" {
			return out, nil
		}
	}
}

// The first and the last possible month, for questions about all months.
const (
	firstMonth Month = 1970 * 12
	lastMonth  Month = 9999*12 + 11
)

// Periods returns all imported billing periods, by month and account.
func (s *Store) Periods(ctx context.Context, org string) ([]Period, error) {
	return s.PeriodsBetween(ctx, org, firstMonth, lastMonth)
}

// PeriodsBetween returns the imported billing periods of the months from … to, by month and account.
func (s *Store) PeriodsBetween(ctx context.Context, org string, from, to Month) ([]Period, error) {
	pointers, err := s.readPointers(ctx, org, from, to)
	if err != nil {
		return nil, err
	}
	return periodsOf(pointers)
}

// periodsOf returns the periods of pointers, which must contain all of each of their months.
func periodsOf(pointers []pointer) ([]Period, error) {
	of, err := newSources(pointers)
	if err != nil {
		return nil, err
	}
	out := make([]Period, len(pointers))
	for i := range pointers {
		out[i] = pointers[i].Period
		out[i].Superseded, out[i].Whole = of.superseded(&pointers[i])
	}
	return out, nil
}
