package maildomain

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"

	"lamplighter.dev/shared/api/platform"
)

const (
	lookupTimeout      = 3 * time.Second // one question to DNS
	lookupTries        = 2
	maxParallelLookups = 5 // domains that are asked for at once
)

// Result is the result of looking for the record of a domain. If it is neither found nor absent, DNS did not answer.
type Result struct {
	Found  bool
	Absent bool   // DNS has answered, without the record
	Reason string // why it is not found
}

// LookUp looks up the records of domains, some at once. Each takes 6 seconds at most.
func LookUp(ctx context.Context, dns platform.Resolver, ds []Domain) []Result {
	out := make([]Result, len(ds))
	free := make(chan struct{}, maxParallelLookups)
	var wg sync.WaitGroup
	for i := range ds {
		free <- struct{}{}
		wg.Go(func() {
			out[i] = lookUpDomain(ctx, dns, ds[i])
			<-free
		})
	}
	wg.Wait()
	return out
}

func lookUpDomain(ctx context.Context, dns platform.Resolver, d Domain) Result {
	var records []string
	var err error
	for range lookupTries {
		if records, err = lookUpTXT(ctx, dns, d.TXTName()); !isRetryable(err) {
			break
		}
	}
	missing, _ := errors.AsType[*net.DNSError](err)
	switch {
	case err == nil && slices.Contains(records, d.TXTValue()):
		return Result{Found: true}
	case err == nil && len(records) > 0:
		return Result{
			Absent: true,
			Reason: "the TXT record has another text: publish the one shown, then check again",
		}
	case err == nil || missing != nil && missing.IsNotFound:
		return Result{Absent: true, Reason: "there is no TXT record yet: publish the one shown, then check again"}
	}
	return Result{Reason: "DNS did not answer: check again later"}
}

func lookUpTXT(ctx context.Context, dns platform.Resolver, name string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	return dns.LookupTXT(ctx, name)
}

// isRetryable reports whether a DNS query is worth another try.
func isRetryable(err error) bool {
	e, ok := errors.AsType[*net.DNSError](err)
	return ok && (e.IsTimeout || e.IsTemporary) && !e.IsNotFound
}
