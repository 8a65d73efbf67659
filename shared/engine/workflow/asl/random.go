package asl

import (
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
)

// mathRandom returns a number from the first argument to just below the second. The optional third argument is the
// seed.
func mathRandom(a []any) (any, error) {
	from, err1 := asInteger(a, 0)
	to, err2 := asInteger(a, 1)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if to <= from || to-from <= 0 {
		return nil, errors.New("the end is not greater than the start")
	}
	if len(a) == 2 {
		return integerNumber(from + rand.Int64N(to-from)), nil //nolint:gosec // no secret is made of it
	}
	seed, err := asInteger(a, 2)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // as above
	return integerNumber(from + r.Int64N(to-from)), nil
}

// randomUUID returns a random UUID, version 4.
func randomUUID() string {
	var b [16]byte
	_, _ = crand.Read(b[:]) // it never fails, according to its documentation
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// drawShare returns a random share of a delay for JitterStrategy FULL, from 0 to just below 1.
func (e Env) drawShare() float64 {
	if e.Random != nil {
		return e.Random()
	}
	return rand.Float64() //nolint:gosec // it only spreads retries
}
