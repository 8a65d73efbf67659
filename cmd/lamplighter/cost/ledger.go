package cost

import (
	"sync"

	"lamplighter.dev/shared/engine/table"
)

// Sample is what something took.
type Sample struct {
	Calls       map[string]int         // of functions, by their folders
	Units       map[string]table.Usage // of functions, from the store
	Transitions map[string]int         // of machines
	KeyCalls    int
	CloudCalls  map[string]int // of functions, to clouds
	LogBytes    int
}

func newSample() Sample {
	return Sample{Calls: map[string]int{}, Units: map[string]table.Usage{}, Transitions: map[string]int{}, CloudCalls: map[string]int{}}
}

// Ledger writes down what functions take. It is a local.Observer and, for the log, an io.Writer; many goroutines may use it.
type Ledger struct {
	mu sync.Mutex
	s  Sample
}

// NewLedger returns an empty one.
func NewLedger() *Ledger { return &Ledger{s: newSample()} }

// Call notes a call of a function.
func (l *Ledger) Call(function string, u table.Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.s.Calls[function]++
	have := l.s.Units[function]
	l.s.Units[function] = table.Usage{
		RoundTrips: have.RoundTrips + u.RoundTrips, ReadUnits: have.ReadUnits + u.ReadUnits, WriteUnits: have.WriteUnits + u.WriteUnits,
	}
}

// Transition notes a state transition.
func (l *Ledger) Transition(machine string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.s.Transitions[machine]++
}

// UseKey notes a call to KMS.
func (l *Ledger) UseKey() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.s.KeyCalls++
}

// Write notes how much is logged.
func (l *Ledger) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.s.LogBytes += len(b)
	return len(b), nil
}

// Take returns what was noted since the last time.
func (l *Ledger) Take() Sample {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.s
	l.s = newSample()
	return out
}

// Measured is what one organization of a size takes.
type Measured struct {
	First    Sample            // the first discovery of an account
	Pass     Sample            // a pass over an account in which nothing has changed
	Bulks    Sample            // a stop and a start of a group, from the requests to their ends
	Requests map[string]Sample // by method and path
	Sweep    Sample
	Round    Sample // of the mailer
	Remind   Sample
	Mail     Sample          // delivered
	Bytes    map[string]int  // that a resource, an action, a request leaves in the table
	Memory   map[string]int  // MB of each function
	Template map[string]bool // what template.yaml switches on
	Traced   string          // which part of everything X-Ray traces, a decimal; "" is nothing
}
