package cost

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A sub-account may be on several bills of a month: on that of who pays for it and on its own, or on those of an
// account that was removed and connected again. Exactly one of them counts.

// Account is an account that is connected.
type Account struct {
	ID       string // ca_…
	Provider string
	Native   string // as its provider names it
}

// maxSubAccounts is how many sub-accounts a pointer tells: they are less than an item holds, whatever they are called.
const maxSubAccounts = 8000

// subAccountOf brings the name of a sub-account into one shape: "/subscriptions/ID" is ID, in lower case.
func subAccountOf(word string) string {
	return strings.ToLower(word[strings.LastIndexByte(word, '/')+1:])
}

// sharedAccount is the sub-account of charges that name none: they are of the billing account.
func sharedAccount(billingAccount string) string { return "@" + strings.ToLower(billingAccount) }

// holds returns the sub-account that a word of the bill means.
func (p *pointer) holds(word string) string {
	switch {
	case word != "":
		return subAccountOf(word)
	case p.Shared != "":
		return sharedAccount(p.Shared)
	}
	return subAccountOf(p.Native)
}

// subAccounts lists what is on the bill: itself, or what it says.
func (p *pointer) subAccounts() ([]string, error) {
	if len(p.Subs) == 0 {
		return []string{subAccountOf(p.Native)}, nil
	}
	text, err := decompressor.Unpack(p.Subs)
	return strings.Split(string(text), "\n"), err
}

// describe notes which sub-accounts the lines of a bill are of, and which of them are connected.
func (p *pointer) describe(ctx context.Context, b *Builder) error {
	if p.Native == "" {
		return nil
	}
	var accounts []Account
	if b.in.Accounts != nil {
		var err error
		if accounts, err = b.in.Accounts(ctx); err != nil {
			return fmt.Errorf("read which accounts are connected: %w", err)
		}
	}
	p.Shared = b.shared
	own, subs := subAccountOf(p.Native), map[string]bool{}
	for i := range b.lines.all {
		subs[p.holds(b.lines.names[b.lines.all[i].key[subAccountWord]])] = true
	}
	if len(subs) > 1 || len(subs) == 1 && !subs[own] {
		p.Subs = packSubAccounts(subs, accounts)
	}
	p.Members = p.membersAmong(func(sub string) bool { return subs[sub] }, b.old.Members, accounts)
	return nil
}

// packSubAccounts writes sub-accounts, those that are connected before others that there is no room for.
func packSubAccounts(subs map[string]bool, accounts []Account) []byte {
	connected := map[string]bool{}
	for _, a := range accounts {
		connected[subAccountOf(a.Native)] = true
	}
	all := make([]string, 0, len(subs))
	for sub := range subs {
		all = append(all, sub)
	}
	slices.SortFunc(all, func(a, b string) int {
		if connected[a] != connected[b] {
			if connected[a] {
				return -1
			}
			return 1
		}
		return cmp.Compare(a, b)
	})
	return compressor.Append(nil, []byte(strings.Join(all[:min(len(all), maxSubAccounts)], "\n")))
}

// membersAmong returns the other accounts on the bill, by sub-account: those that are connected, and those before that
// were and are not replaced by one that is.
func (p *pointer) membersAmong(onBill func(sub string) bool, before map[string]string,
	accounts []Account) map[string]string {
	out := maps.Clone(before)
	maps.DeleteFunc(out, func(sub, _ string) bool { return !onBill(sub) })
	for _, a := range accounts {
		sub := subAccountOf(a.Native)
		if a.Provider != p.Provider || sub == "" || !onBill(sub) {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[sub] = a.ID
	}
	maps.DeleteFunc(out, func(_, accountID string) bool { return accountID == p.AccountID })
	return out
}

// connect notes which accounts are connected now, and reports whether that is news. Without accounts nobody says so.
func (p *pointer) connect(accounts []Account) (changed bool, err error) {
	if p.Native == "" || accounts == nil {
		return false, nil
	}
	subs, err := p.subAccounts()
	if err != nil {
		return false, err
	}
	members := p.membersAmong(func(sub string) bool { return slices.Contains(subs, sub) }, p.Members, accounts)
	gone := !slices.ContainsFunc(accounts, func(a Account) bool { return a.ID == p.AccountID })
	changed = gone != p.Gone || !maps.Equal(members, p.Members)
	p.Members, p.Gone = members, gone
	return changed, nil
}

// accountOf returns the account that a word of the bill is of: one that is connected, or whose bill it is.
func (p *pointer) accountOf(word string) string {
	return cmp.Or(p.Members[p.holds(word)], p.AccountID)
}

// chargedOn is where a sub-account counts once.
type chargedOn struct {
	month     Month
	provider  string
	account   string
	estimated bool
}

// sources tells which bill counts for each sub-account and month.
type sources struct {
	counts map[chargedOn]*pointer
	subs   map[*pointer][]string
}

func newSources(pointers []pointer) (*sources, error) {
	s := &sources{map[chargedOn]*pointer{}, make(map[*pointer][]string, len(pointers))}
	for i := range pointers {
		p := &pointers[i]
		if p.Native == "" {
			continue
		}
		subs, err := p.subAccounts()
		if err != nil {
			return nil, err
		}
		s.subs[p] = subs
		for _, sub := range subs {
			at := chargedOn{p.Month, p.Provider, sub, p.Estimated}
			if had := s.counts[at]; had == nil || p.precedes(had, sub) {
				s.counts[at] = p
			}
		}
	}
	return s, nil
}

// precedes reports whether p, and not other, counts for a sub-account of both: the bill of an account that is
// connected before that of one that is gone, who pays before who is paid for, and among equals the account that was
// connected first.
func (p *pointer) precedes(other *pointer, sub string) bool {
	if p.Gone != other.Gone {
		return other.Gone
	}
	if pays := subAccountOf(p.Native) != sub; pays != (subAccountOf(other.Native) != sub) {
		return pays
	}
	return p.AccountID < other.AccountID
}

// superseded returns which sub-accounts of a bill count on another one, and on which; whole when all do.
func (s *sources) superseded(p *pointer) (by map[string]string, whole bool) {
	subs := s.subs[p]
	for _, sub := range subs {
		if counts := s.counts[chargedOn{p.Month, p.Provider, sub, p.Estimated}]; counts != p {
			if by == nil {
				by = map[string]string{}
			}
			by[sub] = counts.AccountID
		}
	}
	return by, len(by) > 0 && len(by) == len(subs)
}

// billOf returns the bill that counts for the account of an estimate; nil when there is none.
func (s *sources) billOf(estimate *pointer) *pointer {
	return s.counts[chargedOn{estimate.Month, estimate.Provider, subAccountOf(estimate.Native), false}]
}
