package cost

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A sub-account may be on several bills of a month: on its payer's and on its own, or on those of an account that was
// removed and connected again. Exactly one of them counts.

// Account is a connected account.
type Account struct {
	ID       string // ca_…
	Provider string
	Native   string // the provider's ID of it
}

// maxSubAccounts is the most sub-accounts in a pointer. They fit into an item even with long names.
const maxSubAccounts = 8000

// subAccountOf normalizes the name of a sub-account: "/subscriptions/ID" becomes ID, in lower case.
func subAccountOf(word string) string {
	return strings.ToLower(word[strings.LastIndexByte(word, '/')+1:])
}

// sharedAccount returns the sub-account of charges that name none: they belong to the billing account.
func sharedAccount(billingAccount string) string { return "@" + strings.ToLower(billingAccount) }

// holds returns the sub-account of a word on the bill.
func (p *pointer) holds(word string) string {
	switch {
	case word != "":
		return subAccountOf(word)
	case p.Shared != "":
		return sharedAccount(p.Shared)
	}
	return subAccountOf(p.Native)
}

// subAccounts returns the sub-accounts on the bill: its own account if it lists none.
func (p *pointer) subAccounts() ([]string, error) {
	if len(p.Subs) == 0 {
		return []string{subAccountOf(p.Native)}, nil
	}
	text, err := decompressor.Unpack(p.Subs)
	return strings.Split(string(text), "\n"), err
}

// describe stores the sub-accounts of a bill's lines, and which of them are connected.
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

// packSubAccounts encodes sub-accounts. If there is not enough room for all, connected ones take precedence.
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

// membersAmong returns the other accounts on the bill, by sub-account: the connected accounts, and earlier ones that
// no connected account replaces.
func (p *pointer) membersAmong(onBill func(sub string) bool, before map[string]string,
	accounts []Account,
) map[string]string {
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

// connect stores which accounts are connected now, and reports whether that is a change. It does nothing if accounts
// is nil.
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

// accountOf returns the account of a word on the bill: a connected account, or else the account of the bill.
func (p *pointer) accountOf(word string) string {
	return cmp.Or(p.Members[p.holds(word)], p.AccountID)
}

// chargedOn identifies a sub-account and a month. A sub-account counts on exactly one bill of a month.
type chargedOn struct {
	month     Month
	provider  string
	account   string
	estimated bool
}

// sources determines which bill counts for each sub-account and month.
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

// precedes reports whether p, and not other, counts for a sub-account of both. The bill of a connected account
// precedes that of a removed one, the payer precedes the accounts that it pays for, and among equals the account that
// was connected first precedes.
func (p *pointer) precedes(other *pointer, sub string) bool {
	if p.Gone != other.Gone {
		return other.Gone
	}
	if pays := subAccountOf(p.Native) != sub; pays != (subAccountOf(other.Native) != sub) {
		return pays
	}
	return p.AccountID < other.AccountID
}

// superseded returns the sub-accounts of a bill that count on another bill, with that bill's account. whole reports
// whether all do.
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

// billOf returns the bill that counts for the account of an estimate, or nil.
func (s *sources) billOf(estimate *pointer) *pointer {
	return s.counts[chargedOn{estimate.Month, estimate.Provider, subAccountOf(estimate.Native), false}]
}
