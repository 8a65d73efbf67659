package billfile

import (
	"bytes"
	"strings"
	"time"
	"unicode"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// binding is the destination of a column's values: exactly one of text, amount, at and tags is set.
type binding struct {
	names    []string // the vendors' spellings; the first one in the file counts
	required bool     // the column must exist; an amount or a time in it must not be empty
	column   int      // in the file; -1 if it has none of the names
	fixed    bool     // the column is set already: names that differ only in case are different tags

	text   *string
	amount *money.Amount
	at     *time.Time
	tags   *[]bill.Tag
	filled *bool // set to whether the row has a value; nil if unused
	// set to a date with slashes, which the layout then reads in place of at; nil if at takes such dates
	slashed *string

	cache      *cache // of all bindings of a file
	plainNames []string
}

// set converts a value from its form in the file. An empty value is no value, which is an error in a required column.
func (b *binding) set(value []byte) (err error) {
	if isNull(value) {
		value = nil
	}
	if b.filled != nil {
		*b.filled = len(value) > 0
	}
	if b.required && b.text == nil && len(value) == 0 {
		return fault.New(fault.Invalid, "it is empty, and must not be")
	}
	switch {
	case b.text != nil:
		*b.text = b.cache.text(value)
	case b.amount != nil:
		*b.amount, err = parseAmount(value)
	case b.at != nil:
		err = b.setTime(value)
	default:
		*b.tags, err = b.cache.tagsOf(value)
	}
	return err
}

func (b *binding) setTime(value []byte) (err error) {
	if b.slashed != nil {
		*b.slashed = ""
		if bytes.IndexByte(value, '/') >= 0 {
			*b.slashed, *b.at = string(value), time.Time{}
			return nil
		}
	}
	*b.at, err = parseTime(value)
	return err
}

// isNull reports whether b is the word that some vendors write for a missing value.
func isNull(b []byte) bool { return string(b) == "NULL" || string(b) == "null" }

func parseAmount(b []byte) (money.Amount, error) {
	if b = bytes.TrimSpace(b); len(b) == 0 {
		return money.Amount{}, nil
	}
	return money.ParseBytes(b)
}

// text, amount, at and tags bind columns by their names.
func text(to *string, names ...string) binding { return binding{names: names, text: to} }

func amount(to *money.Amount, names ...string) binding { return binding{names: names, amount: to} }

func at(to *time.Time, names ...string) binding { return binding{names: names, at: to} }

func tags(to *[]bill.Tag, names ...string) binding { return binding{names: names, tags: to} }

// needed returns a binding of a required column.
func needed(b binding) binding {
	b.required = true
	return b
}

// told returns a binding that sets filled to whether the row has a value.
func told(b binding, filled *bool) binding {
	b.filled = filled
	return b
}

// unslashed returns a binding that sets slashed in place of at for a date with slashes.
func unslashed(b binding, slashed *string) binding {
	b.slashed = slashed
	return b
}

// plainName removes the spelling differences between vendors from the name of a column: "lineItem/UsageAmount",
// "line_item_usage_amount" and "LineItemUsageAmount" are one name, and so are "Ressourcengruppe (ResourceGroup)" and
// "resourceGroup".
func plainName(name string) string {
	if open := strings.LastIndexByte(name, '('); open > 0 && strings.HasSuffix(name, ")") {
		name = name[open+1 : len(name)-1]
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// place finds the columns of the bindings. It returns an error if a required column is missing or a column occurs
// twice. In an open table, every column may occur.
func place(bindings []binding, columns []string, open bool) error {
	index := make(map[string]int, len(columns))
	twice := map[string]string{}
	for i, c := range columns {
		plain := plainName(c)
		if _, found := index[plain]; found {
			twice[plain] = c
			continue
		}
		index[plain] = i
	}
	var missing []string
	shared := newCache()
	for i := range bindings {
		b := &bindings[i]
		b.cache = shared
		name := b.find(index)
		if again, found := twice[name]; found && name != "" {
			return fault.New(fault.Invalid, "the column %.100q is there twice", again)
		}
		if b.column < 0 && b.required && !open {
			missing = append(missing, b.names[0])
		}
	}
	if len(missing) > 0 {
		return fault.New(fault.Invalid, "columns are missing: %s; export all columns", strings.Join(missing, ", "))
	}
	return nil
}

func (b *binding) find(index map[string]int) string {
	if b.fixed {
		return ""
	}
	b.column = -1
	for _, name := range b.plain() {
		if i, found := index[name]; found {
			b.column = i
			return name
		}
	}
	return ""
}

// plain returns the names in the form of plainName.
func (b *binding) plain() []string {
	if b.plainNames == nil {
		for _, name := range b.names {
			b.plainNames = append(b.plainNames, plainName(name))
		}
	}
	return b.plainNames
}
