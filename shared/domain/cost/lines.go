package cost

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/money"
)

// maxLines is the largest number of lines of a period. Further lines are added up without their resource and tags.
const maxLines = 400_000

// The columns of a line that are words.
const (
	subAccountWord = iota
	regionWord
	typeWord
	serviceWord
	purchaseWord
	categoryWord
	currencyWord
	classWord    // the last of the words with few values; blocks of an earlier version do not have it
	resourceWord // the name of the resource on the bill
	tagsWord     // a set of tags: see tagSet
	wordCount
)

// lineKey is the words of a line, by their numbers.
type lineKey [wordCount]uint32

// line is the charges of a month that agree in all words, by day.
type line struct {
	key  lineKey
	days [3]series // by metric; nil if they equal those of Billed
}

// of returns the series of a metric.
func (l *line) of(metric int) *series {
	if l.differs(metric) {
		return &l.days[metric]
	}
	return &l.days[0]
}

// differs reports whether the amounts of a metric differ from the billed ones.
func (l *line) differs(metric int) bool { return l.days[metric].len() > 0 }

// add adds amounts by metric on a day. A metric that equals the billed one so far has no series of its own.
func (l *line) add(day int, amounts [3]*money.Amount) {
	for m := 1; m < len(amounts); m++ {
		if !l.differs(m) && *amounts[m] != *amounts[0] {
			l.days[m] = l.days[0].clone()
			l.days[m].add(day, &money.Amount{})
		}
		if l.differs(m) {
			l.days[m].add(day, amounts[m])
		}
	}
	l.days[0].add(day, amounts[0])
}

// words assigns numbers to words; 0 is the empty word.
type words struct {
	number map[string]uint32
	names  []string
}

func newWords() words { return words{map[string]uint32{"": 0}, []string{""}} }

// intern returns the number of a word. It keeps a copy of the word, since the caller may reuse its memory.
func (w *words) intern(word string) uint32 {
	if n, ok := w.number[word]; ok {
		return n
	}
	word = strings.Clone(word)
	n := uint32(len(w.names)) //nolint:gosec // fewer than rows
	w.number[word], w.names = n, append(w.names, word)
	return n
}

// internBehind is intern for a word that probably is the one after the n-th.
func (w *words) internBehind(n uint32, word string) uint32 {
	if n++; int(n) < len(w.names) && w.names[n] == word {
		return n
	}
	return w.intern(word)
}

// lines holds the lines of a period while they are added up.
type lines struct {
	words
	at     map[lineKey]int32
	all    []line
	most   int
	folded int64
	buf    []byte
}

func newLines() lines { return lines{words: newWords(), at: map[lineKey]int32{}, most: maxLines} }

// add adds a charge at its place in the month.
func (ls *lines) add(c *bill.Charge, at placement) {
	k := lineKey{
		ls.intern(c.SubAccountID), ls.intern(c.RegionID), ls.intern(c.ResourceType), ls.intern(c.ServiceName),
		ls.intern(purchaseOf(c)),
		ls.intern(c.ChargeCategory), ls.intern(c.BillingCurrency), ls.intern(at.class), ls.intern(c.ResourceID),
		ls.tags(c.Tags),
	}
	ls.find(k).add(at.day, [3]*money.Amount{&c.BilledCost, &c.EffectiveCost, &c.ListCost})
}

func (ls *lines) find(k lineKey) *line {
	n, ok := ls.at[k]
	if !ok && len(ls.all) >= ls.most {
		ls.folded++
		k[resourceWord], k[tagsWord] = 0, 0
		n, ok = ls.at[k]
	}
	if !ok {
		n = int32(len(ls.all)) //nolint:gosec // little more than maxLines
		ls.at[k] = n
		ls.all = append(ls.all, line{key: k})
	}
	return &ls.all[n]
}

// tags returns the number of a set of tags.
func (ls *lines) tags(tags []bill.Tag) uint32 {
	ls.buf = ls.buf[:0]
	for _, t := range tags {
		ls.buf = appendText(ls.buf, t.Key)
		ls.buf = appendText(ls.buf, t.Value)
	}
	if n, ok := ls.number[string(ls.buf)]; ok {
		return n
	}
	return ls.intern(string(ls.buf))
}

// purchaseOf returns the purchase type of a charge.
func purchaseOf(c *bill.Charge) string {
	switch c.PricingCategory {
	case bill.Standard:
		return OnDemand
	case bill.Committed:
		return Committed
	case bill.Dynamic:
		return Spot
	}
	return OtherPurchases
}

// sort sorts lines by their words, so that equal words are adjacent.
func (ls *lines) sort() {
	slices.SortFunc(ls.all, func(a, b line) int {
		for i := range wordCount {
			if a.key[i] != b.key[i] {
				return cmp.Compare(ls.names[a.key[i]], ls.names[b.key[i]])
			}
		}
		return 0
	})
	ls.at = nil
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
