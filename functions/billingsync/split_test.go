package billingsync_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
)

// cutter is a simulated cloud that delivers its bills in other files: with their rows in any order, cut into any
// number of parts.
type cutter struct {
	cloud.Provider
	random *rand.Rand
	parts  int
	again  int // number of repeated deliveries
}

func (c *cutter) Connect(ctx context.Context, a cloud.Account) (cloud.Conn, error) {
	inner, err := c.Provider.Connect(ctx, a)
	if err != nil {
		return nil, err
	}
	return &cutConn{inner, inner.(cloud.Biller), c}, nil //nolint:forcetypeassert // the simulated cloud is one
}

type cutConn struct {
	cloud.Conn
	bills cloud.Biller
	*cutter
}

// Deliveries returns the deliveries of the simulated cloud, in parts.
func (c *cutConn) Deliveries(ctx context.Context, from time.Time) ([]cloud.Delivery, error) {
	all, err := c.bills.Deliveries(ctx, from)
	for i := range all {
		d := &all[i]
		files, err := c.cut(ctx, *d)
		if err != nil {
			return nil, err
		}
		d.Files, d.DeliveredAt = nil, d.DeliveredAt.Add(time.Duration(c.again)*time.Second)
		d.Fingerprint += fmt.Sprint("-", c.again)
		for _, f := range files {
			d.Files = append(d.Files, cloud.BillFile{Name: f, Size: -1, Rows: -1})
		}
	}
	return all, err
}

// cut writes the rows of a delivery into files, and returns their names, which are their contents.
func (c *cutConn) cut(ctx context.Context, d cloud.Delivery) ([]string, error) {
	header, rows := "", []string{}
	for _, f := range d.Files {
		r, err := c.bills.OpenBill(ctx, d, f)
		if err != nil {
			return nil, err
		}
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(z)
		if err != nil {
			return nil, err
		}
		lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
		header, rows = lines[0], append(rows, lines[1:]...)
	}
	c.random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	files := make([]string, c.parts)
	for i := range files {
		files[i] = header
	}
	for _, row := range rows {
		files[c.random.IntN(c.parts)] += strings.TrimSuffix(row, "\n") + "\n"
	}
	return files, nil
}

func (*cutConn) OpenBill(_ context.Context, _ cloud.Delivery, f cloud.BillFile) (cloud.BillReader, error) {
	return content{bytes.NewReader([]byte(f.Name))}, nil
}

func (c *cutConn) ControlTotal(ctx context.Context, period time.Time) (total, currency string, ok bool, err error) {
	return c.bills.ControlTotal(ctx, period)
}

type content struct{ *bytes.Reader }

func (content) Close() error { return nil }

// All reports of a bill are the same to the last digit for any number of files and any order of rows.
func TestBills_AreTheSameHoweverTheyAreCutAndShuffled(t *testing.T) {
	race.SkipRepetition(t)
	for _, form := range []string{"cur", "focus"} {
		t.Run(form, func(t *testing.T) {
			how := &cutter{random: seed.Fixed(t, 7, 8), parts: 1}
			s := newFixtureWith(t, cloud.Providers{simulated.Name: how})
			how.Provider = simulated.New(s.Table, s.clk)
			s.connect(settings{"bills": form})
			s.wantPlanted(s.plan(settings{"bills": form}))
			all := func() string {
				a := s.ask(cost.ServiceDim, cost.ResourceDim, cost.CategoryDim, cost.PurchaseDim, "tag:team")
				a.Attribution = nil // each import is later
				return fmt.Sprintf("%+v", a)
			}
			first := all()
			for _, how.parts = range []int{2, 3, 7} {
				how.again++
				s.clk.Advance(time.Second)
				s.verify()
				if got := s.status(); got.Status != "ok" {
					t.Fatalf("in %d parts: %+v", how.parts, got)
				}
				for month, p := range s.periods() {
					if !strings.HasSuffix(p.Fingerprint, fmt.Sprint("-", how.again)) {
						t.Errorf("%s was not imported again", month)
					}
				}
				s.wantPlanted(s.plan(settings{"bills": form}))
				if all() != first {
					t.Errorf("cut into %d parts the costs are others", how.parts)
				}
			}
		})
	}
}
