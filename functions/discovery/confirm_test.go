package discovery

import (
	"context"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
)

// short is a connection whose listings lack every second resource.
type short struct {
	cloud.Conn
	readErr error
	reads   int
}

func (c *short) List(ctx context.Context, kind, region, page string) (cloud.ResourcePage, error) {
	got, err := c.Conn.List(ctx, kind, region, page)
	var some []cloud.Resource
	for i, r := range got.Resources {
		if i%2 == 0 {
			some = append(some, r)
		}
	}
	got.Resources = some
	return got, err
}

func (c *short) Read(ctx context.Context, kind, region string, uids []string) ([]cloud.State, error) {
	c.reads++
	if c.readErr != nil {
		return nil, c.readErr
	}
	return c.Conn.Read(ctx, kind, region, uids)
}

// readShort reads the instances of a region over a connection whose listings are incomplete. It returns the number of
// reads by ID.
func (s *fixture) readShort(readErr error) int {
	s.Helper()
	w, share := s.newWorker(), s.newShare("us-east-1", "aws-ec2")
	_, conn, err := w.connectAccount(s.ctx, share.Input)
	s.Must(err)
	c := &short{Conn: conn, readErr: readErr}
	share.Started = s.clk.Now()
	r := newRun(w, c, s.account, &share)
	s.Must(r.readPages(s.ctx, w.endTime(s.ctx)))
	s.Must(r.endRun(s.ctx))
	if p := share.Parts[0]; p.Status != discovery.PartDone {
		s.Fatalf("the part ended as %+v", p)
	}
	return c.reads
}

func TestAShare_AShortListingTerminatesNothingThatExists(t *testing.T) {
	denied := &cloud.Error{Class: cloud.Denied, Message: "not authorized to perform ec2:DescribeInstances by id"}
	for name, c := range map[string]struct {
		err   error
		reads int
	}{
		"reads by id find it": {nil, 1},
		"reads by id fail":    {denied, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, settings{"size": "200", "regions": "1", "kinds": "aws-ec2"})
			s.runPass(discovery.Succeeded)
			before := s.countLive()
			for range 2 {
				s.account = s.storedAccount()
				s.clk.Advance(6 * time.Hour)
				if reads := s.readShort(c.err); reads != c.reads || s.countLive() != before {
					t.Errorf("%d reads, %d of %d live; want %d reads, and all live", reads, s.countLive(), before,
						c.reads)
				}
			}
		})
	}
}

// TestAShare_ReadsByIDAreBounded has more missing resources than are read one by one.
func TestAShare_ReadsByIDAreBounded(t *testing.T) {
	conn := &counted{}
	r := &run{w: &worker{providers: cloud.Providers{"p": onlyKind{"single", 1}}}, conn: conn}
	r.account.Provider = "p"
	var p Progress
	p.Kind = "single"
	uids := make([]string, 3*maxConfirmCalls)
	for i := range uids {
		uids[i] = string(rune('a' + i))
	}
	if got := r.existenceReader(p)(t.Context(), uids); conn.reads != maxConfirmCalls || len(got) != maxConfirmCalls ||
		got["a"] {
		t.Errorf("%d reads, which tell of %d resources; want %d", conn.reads, len(got), maxConfirmCalls)
	}
	if p.Kind = "p-*"; r.existenceReader(p) != nil {
		t.Error("what a collective kind found is read by id")
	}
}

// counted is a connection to a cloud without any resources.
type counted struct {
	cloud.Conn
	reads int
}

func (c *counted) Read(context.Context, string, string, []string) ([]cloud.State, error) {
	c.reads++
	return nil, nil
}

// onlyKind is a provider of one kind.
type onlyKind struct {
	kind  string
	batch int
}

func (o onlyKind) Name() string { return "p" }

func (o onlyKind) Kinds() []cloud.Kind {
	return []cloud.Kind{{Type: o.kind, Provider: "p", ReadBatch: o.batch}}
}

func (o onlyKind) Connect(context.Context, cloud.Account) (cloud.Conn, error) { return &counted{}, nil }
