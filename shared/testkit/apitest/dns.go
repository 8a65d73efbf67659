package apitest

import (
	"context"
	"net"
	"slices"
	"sync"
)

// Names is a DNS with the TXT records of a test and no others. The zero value is ready.
type Names struct {
	mu      sync.Mutex
	records map[string][]string
	silent  map[string]bool
	asked   []string
}

// Publish adds a record.
func (n *Names) Publish(name, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.records == nil {
		n.records = map[string][]string{}
	}
	n.records[name] = append(n.records[name], text)
}

// Silence makes every question about the name time out, or ends that.
func (n *Names) Silence(name string, silent bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.silent == nil {
		n.silent = map[string]bool{}
	}
	n.silent[name] = silent
}

// Asked returns the names that were asked for, in turn.
func (n *Names) Asked() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.asked)
}

// LookupTXT answers as *net.Resolver does.
func (n *Names) LookupTXT(_ context.Context, name string) ([]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, name)
	switch {
	case n.silent[name]:
		return nil, &net.DNSError{Err: "i/o timeout", Name: name, IsTimeout: true}
	case len(n.records[name]) == 0:
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return slices.Clone(n.records[name]), nil
}
