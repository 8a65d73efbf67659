package scheduling

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// cronField describes the values that one of the five fields accepts.
type cronField struct {
	name   string
	lowest int
	most   int
	names  []string // of the values from lowest on
}

var fields = [...]cronField{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day of month", 1, 31, nil},
	{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{"day of week", 0, 6, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// sunday is the second number of Sunday. The field day of week accepts both 0 and 7.
const sunday = 7

func (f cronField) isWeekday() bool { return f.most == 6 }

// parse parses the text of the field. It returns the set of values, whether the field is *, and why the text is
// invalid.
func (f cronField) parse(text string) (set uint64, star bool, why string) {
	for part := range strings.SplitSeq(text, ",") {
		one, all, why := f.parsePart(part)
		if why != "" {
			return 0, false, why
		}
		set |= one
		star = star || all
	}
	if f.isWeekday() && set>>sunday&1 == 1 {
		set = set&^(1<<sunday) | 1
	}
	return set, star, ""
}

// parsePart parses one element of a list: *, a value or a range, with or without a step.
func (f cronField) parsePart(part string) (set uint64, star bool, why string) {
	span, stepText, stepped := strings.Cut(part, "/")
	step := 1
	if stepped {
		if step, why = f.parseStep(stepText); why != "" {
			return 0, false, why
		}
	}
	from, to := f.lowest, f.most
	if span != "*" {
		if from, to, why = f.parseSpan(span, stepped); why != "" {
			return 0, false, why
		}
	}
	for v := from; v <= to; v += step {
		set |= 1 << v
	}
	return set, span == "*" && step == 1, ""
}

func (f cronField) parseStep(text string) (int, string) {
	step, ok := number(text)
	if most := f.most - f.lowest + 1; !ok || step < 1 || step > most {
		return 0, fmt.Sprintf("the step %.20q is no number from 1 to %d", text, most)
	}
	return step, ""
}

// parseSpan parses a value or a range. A value with a step extends to the highest value.
func (f cronField) parseSpan(span string, stepped bool) (from, to int, why string) {
	first, last, ranged := strings.Cut(span, "-")
	if from, why = f.parseValue(first); why != "" {
		return 0, 0, why
	}
	switch {
	case ranged:
		to, why = f.parseValue(last)
	case stepped:
		to = max(f.most, from)
	default:
		to = from
	}
	if why == "" && f.isWeekday() && ranged && to == 0 && from > 0 { // fri-sun
		to = sunday
	}
	if why == "" && from > to {
		why = fmt.Sprintf("the range %.20s runs backwards: write %s-%d,%d-%s", span, first, f.most, f.lowest, last)
	}
	return from, to, why
}

func (f cronField) parseValue(text string) (int, string) {
	most := f.most
	if f.isWeekday() {
		most = sunday
	}
	for i, name := range f.names {
		if strings.EqualFold(text, name) {
			return f.lowest + i, ""
		}
	}
	if v, ok := number(text); ok && v >= f.lowest && v <= most {
		return v, ""
	}
	also := ""
	if f.names != nil {
		also = fmt.Sprintf(", and no name from %s to %s", f.names[0], f.names[len(f.names)-1])
	}
	return 0, fmt.Sprintf("%.20q is no number from %d to %d%s", text, f.lowest, most, also)
}

// number parses a number of at most three digits.
func number(text string) (int, bool) {
	if text == "" || len(text) > 3 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// nextBit returns the lowest member of set that is at least n.
func nextBit(set uint64, n int) (int, bool) {
	if n > 63 {
		return 0, false
	}
	rest := set >> n
	return n + bits.TrailingZeros64(rest), rest != 0
}

// prevBit returns the highest member of set that is at most n.
func prevBit(set uint64, n int) (int, bool) {
	if n < 0 {
		return 0, false
	}
	rest := set << (63 - n)
	return n - bits.LeadingZeros64(rest), rest != 0
}
