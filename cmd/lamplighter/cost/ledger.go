package cost

import (
	"sync"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// Sample is the usage of one piece of work.
type Sample struct {
	Calls       map[string]int         // of functions, by their folders
	Units       map[string]table.Usage // of functions, from the store
	Transitions map[string]int         // of machines
	KeyCalls    int
	Millis      map[string]int // ms that functions took on a clock that only waits move: mostly for clouds
	CloudCalls  int
	LogBytes    int
	Puts        int // requests to S3 that write or list
	Gets        int // requests to S3 that read
}

func newSample() Sample {
	return Sample{
		Calls: map[string]int{}, Units: map[string]table.Usage{}, Transitions: map[string]int{},
		Millis: map[string]int{},
	}
}

// Ledger records the usage of functions. It is a local.Observer and, for the log, an io.Writer. It is safe to use
// concurrently.
type Ledger struct {
	mu sync.Mutex
	s  Sample
}

// NewLedger returns an empty Ledger.
func NewLedger() *Ledger { return &Ledger{s: newSample()} }

// Call records a call of a function.
func (l *Ledger) Call(function string, u table.Usage, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.s.Calls[function]++
	l.s.Millis[function] += int(took.Milliseconds())
	have := l.s.Units[function]
	l.s.Units[function] = table.Usage{
		RoundTrips: have.RoundTrips + u.RoundTrips, ReadUnits: have.ReadUnits + u.ReadUnits,
		WriteUnits: have.WriteUnits + u.WriteUnits,
	}
}

// Transition records a state transition.
func (l *Ledger) Transition(machine string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.s.Transitions[machine]++
}

// UseKey records a call to KMS.
func (l *Ledger) UseKey() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.s.KeyCalls++
}

// UseFiles records requests to S3.
func (l *Ledger) UseFiles(puts, gets int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.s.Puts += puts
	l.s.Gets += gets
}

// Write records the size of a log line.
func (l *Ledger) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.s.LogBytes += len(b)
	return len(b), nil
}

// Take returns the usage since the last call of Take.
func (l *Ledger) Take() Sample {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.s
	l.s = newSample()
	return out
}

// minus returns s without t, for example the usage of a piece of work without the usage of an idle run.
func (s Sample) minus(t Sample) Sample { return s.combine(t, -1) }

// plus returns the sum of s and t.
func (s Sample) plus(t Sample) Sample { return s.combine(t, 1) }

func (s Sample) combine(t Sample, times int) Sample {
	out := newSample()
	for _, of := range []struct {
		s     Sample
		times int
	}{{s, 1}, {t, times}} {
		add(out.Calls, of.s.Calls, of.times)
		add(out.Transitions, of.s.Transitions, of.times)
		add(out.Millis, of.s.Millis, of.times)
		for function, u := range of.s.Units {
			v := out.Units[function]
			out.Units[function] = table.Usage{
				RoundTrips: v.RoundTrips + of.times*u.RoundTrips,
				ReadUnits:  v.ReadUnits + float64(of.times)*u.ReadUnits,
				WriteUnits: v.WriteUnits + float64(of.times)*u.WriteUnits,
			}
		}
		out.CloudCalls += of.times * of.s.CloudCalls
		out.Puts, out.Gets = out.Puts+of.times*of.s.Puts, out.Gets+of.times*of.s.Gets
		out.KeyCalls, out.LogBytes = out.KeyCalls+of.times*of.s.KeyCalls, out.LogBytes+of.times*of.s.LogBytes
	}
	return out
}

// only returns the usage of a function within s. All machines, and calls to KMS and S3, are its own.
func (s Sample) only(function string) Sample {
	out := newSample()
	out.Calls[function], out.Units[function] = s.Calls[function], s.Units[function]
	out.Millis[function], out.Transitions = s.Millis[function], s.Transitions
	out.KeyCalls, out.Puts, out.Gets = s.KeyCalls, s.Puts, s.Gets
	return out
}

func add(out, more map[string]int, times int) {
	for name, n := range more {
		out[name] += times * n
	}
}

// Measured is the usage of one organization of a size.
type Measured struct {
	First         Sample // the first discovery of an account, the import of its bills, and the metrics of 14 days
	Pass          Sample // a pass over an account without changes
	Collection    Sample // a pass that also collects the metrics of the day before
	Bulks         Sample // Pairs stops and starts of a group, from the requests to their ends and notifications
	Pairs         int
	Requests      map[string]Sample // by method and path, without refreshes
	Refreshes     Sample            // RefreshCount refreshes of tokens, as far apart as those of all users
	RefreshCount  int
	Bare          map[string]Sample // a run of each scheduled worker in a service without organizations, by its folder
	Found         map[string]Sample // a run of each worker of the minute with the organization, when no work is due
	Archived      Sample            // the actions of ArchivedPairs pairs of bulk actions, with their history
	ArchivedPairs int
	Costs         Costs
	Mail          Sample          // delivered
	Bytes         map[string]int  // left in the table by a resource, an action, a request; and in S3 by all line items
	Memory        map[string]int  // MB of each function
	Readers       map[string]bool // functions that read a secret of Secrets Manager at each start
	Template      map[string]bool // options that template.yaml switches on
	Traced        string          // the share of requests that X-Ray traces, a decimal; "" is none
}

// Costs is what the workers of the hour, of the night and of the day use for an organization in Days days, beyond
// their runs in a service without organizations.
type Costs struct {
	Days     int
	Bills    Sample // of billingsync, for the bills of Accounts accounts
	Accounts int
	Rest     Sample // of all other workers
	// Renewed is the usage of billingsync for the updates of the costs of all resources after Renewals imports. A large
	// organization makes renewalsADay such updates, however many accounts it has.
	Renewed  Sample
	Renewals int
	Shared   Sample // of pricesync, for the lists of prices of all organizations
}
