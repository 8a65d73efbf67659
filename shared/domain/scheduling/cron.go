package scheduling

import (
	"math/bits"
	"strings"
	"unicode"

	"lamplighter.dev/shared/foundation/fault"
)

// maxExpression is the maximum length of a cron expression, in bytes.
const maxExpression = 256

// Cron is a parsed five-field cron expression. The zero Cron never fires.
type Cron struct {
	minutes  uint64 // bit n: minute n of an hour
	hours    uint64
	days     uint64 // of a month, from bit 1
	months   uint64 // from bit 1
	weekdays uint64 // bit 0 is Sunday
	anyDay   bool   // the day of the month is *
	anyWeek  bool   // the day of the week is *
}

// daysOf is the maximum number of days of each month; index 1 is January.
var daysOf = [...]int{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// ParseCron parses a five-field cron expression: minute, hour, day of the month, month and day of the week. The error
// is fault.Invalid. It names the field of the request, the field of the expression and the wrong value. ParseCron
// also refuses an expression that can never fire, such as 30 February.
func ParseCron(field, expression string) (Cron, error) {
	refuse := func(format string, args ...any) (Cron, error) {
		return Cron{}, fault.New(fault.Invalid, "%s: %.80q "+format, append([]any{field, expression}, args...)...)
	}
	parts := strings.Fields(expression)
	switch {
	case len(expression) > maxExpression:
		return refuse("is too long: at most %d characters", maxExpression)
	case strings.HasPrefix(strings.TrimSpace(expression), "@"):
		return refuse("is not a cron expression of five fields: write @daily as 0 0 * * *, for example")
	case strings.ContainsFunc(expression, breaksLine):
		return refuse("has a line break or a special space; write its five fields on one line, with plain spaces " +
			"between them")
	case len(parts) != len(fields):
		return refuse("has %d fields; a cron expression has five: minute, hour, day of the month, month and day "+
			"of the week", len(parts))
	}
	var sets [len(fields)]uint64
	var stars [len(fields)]bool
	for i := range fields {
		var why string
		if sets[i], stars[i], why = fields[i].parse(parts[i]); why != "" {
			return refuse("has the %s %.64q: %s", fields[i].name, parts[i], why)
		}
	}
	c := Cron{sets[0], sets[1], sets[2], sets[3], sets[4], stars[2], stars[4]}
	if !c.possible() {
		return refuse("never fires: no month of the field month (%.64s) has a day of month %.64s", parts[3], parts[2])
	}
	return c, nil
}

// breaksLine reports whether c is white space or a control character other than the space and the tab.
func breaksLine(c rune) bool {
	return c != ' ' && c != '\t' && (unicode.IsSpace(c) || unicode.IsControl(c))
}

// possible reports whether any year has a day on which the cron fires.
func (c Cron) possible() bool {
	if c.anyDay || !c.anyWeek { // every month has every day of the week
		return true
	}
	first := bits.TrailingZeros64(c.days)
	for m := 1; m < len(daysOf); m++ {
		if c.months>>m&1 == 1 && first <= daysOf[m] {
			return true
		}
	}
	return false
}

// onDay reports whether the cron fires on a day. When the expression restricts both the day of the month and the day
// of the week, one of them must match.
func (c Cron) onDay(d civil) bool {
	if c.months>>d.month&1 == 0 {
		return false
	}
	day, week := c.days>>d.day&1 == 1, c.weekdays>>d.weekday&1 == 1
	if c.anyDay || c.anyWeek {
		return day && week
	}
	return day || week
}
