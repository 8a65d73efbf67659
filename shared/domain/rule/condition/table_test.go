package condition

import (
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/rule"
)

// at is the time of all evaluations in the tests.
var at = time.Date(2026, 3, 31, 6, 0, 0, 0, time.UTC)

// builtIn is the catalogue and the rules of the product.
type builtIn struct {
	*Catalogue
	conditions []*Condition
	byType     map[string][]*Condition
}

var load = sync.OnceValues(func() (*builtIn, error) {
	b := &builtIn{Catalogue: NewCatalogue(), byType: map[string][]*Condition{}}
	for i := range rule.All() {
		c, err := b.Compile(&rule.All()[i])
		if err != nil {
			return nil, err
		}
		b.conditions = append(b.conditions, c)
		b.byType[c.Type] = append(b.byType[c.Type], c)
	}
	return b, nil
})

// rules returns the rules of the product with their conditions.
func rules(t testing.TB) *builtIn {
	t.Helper()
	b, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// subject returns a subject of a type without facts.
func (b *builtIn) subject(t testing.TB, kind string) *Subject {
	t.Helper()
	s, err := b.NewSubject(kind)
	if err != nil {
		t.Fatal(err)
	}
	s.Now = at
	return s
}
