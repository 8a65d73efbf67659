package table_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/tabletest"
)

func TestPartition_Matches(t *testing.T) {
	for _, c := range []struct {
		pattern table.Partition
		pk      string
		want    bool
	}{
		{"ORG#*#RES", "ORG#org_a#RES", true},
		{"ORG#*#RES", "ORG#org_a#RESOURCES", false},
		{"ORG#*#RES", "ORG#org_a#SCAN#x#RES", false},
		{"ORG#*#RES", "ORG##RES", false},
		{"ORG#*#RES", "ORG#org_a", false},
		{"ORG#*#JOB#*", "ORG#org_a#JOB#job_1", true},
		{"ORG#*#JOB#*", "ORG#org_a#JOB#", false},
		{"ORG#*#JOB#*", "ORG#org_a#JOB", false},
		{"ORG#*#HIST#R#*", "ORG#org_a#HIST#R#aws:1#2", true},
		{"PENDING#*", "PENDING#03", true},
		{"PENDING#*", "PENDING#", false},
		{"MAIL#EVENTS", "MAIL#EVENTS", true},
		{"MAIL#EVENTS", "MAIL#EVENTS#1", false},
		{"*", "ORG#org_a#RES", true},
	} {
		if got := c.pattern.Matches(c.pk); got != c.want {
			t.Errorf("%s matches %s: %t", c.pattern, c.pk, got)
		}
	}
}

func TestAccess_With(t *testing.T) {
	a := table.Access{Reads: []table.Partition{"B", "A"}, Appends: []table.Partition{"C", "D"}}
	got := a.With(table.Access{Reads: []table.Partition{"B", "C"}, Writes: []table.Partition{"D", "A", "A"}})
	if s := joinPartitions(got.Reads) + "|" + joinPartitions(got.Writes) + "|" + joinPartitions(got.Appends) + "|" +
		joinPartitions(got.All()); s != "B|A D|C|A B C D" {
		t.Error(s)
	}
	if joinPartitions(a.Reads) != "B A" {
		t.Error("the first one was changed")
	}
}

func joinPartitions(ps []table.Partition) string {
	var out []string
	for _, p := range ps {
		out = append(out, string(p))
	}
	return strings.Join(out, " ")
}

// Each call of a function is restricted to its declaration, even if the context permits more.
func TestConfined_RefusesWhatIsNotDeclared(t *testing.T) {
	access := table.Access{
		Reads: []table.Partition{"ORG#*#READ"}, Writes: []table.Partition{"ORG#*#WRITE"},
		Appends: []table.Partition{"ORG#*#CHAIN"},
	}
	inner := tabletest.New(t)
	shared := table.Confined(inner, "of the process", table.Unlimited)
	whole := table.Within(t.Context(), "")
	for name, c := range map[string]struct {
		s   table.Store
		ctx context.Context
	}{
		"a process that is the function": {table.Confined(inner, "f", access), whole},
		"a process that many share":      {shared, table.As(whole, "f", access)},
		"another function in between":    {shared, table.As(table.As(whole, "g", table.Unlimited), "f", access)},
	} {
		t.Run(name, func(t *testing.T) { checkConfined(c.ctx, t, c.s) })
	}
	t.Run("what is done for no function", func(t *testing.T) {
		if _, err := shared.Write(whole, newPut("ORG#a#ANY")); err != nil {
			t.Error(err)
		}
	})
	t.Run("a declaration permits nothing that the context does not", func(t *testing.T) {
		_, err := table.Confined(inner, "f", access).Get(table.WithOrg(t.Context(), "b"),
			table.Key{PK: "ORG#a#READ", SK: "1"})
		wantRefused(t, err, true)
	})
}

func checkConfined(ctx context.Context, t *testing.T, s table.Store) {
	t.Helper()
	for pk, allowed := range map[string]struct{ read, write, append bool }{
		"ORG#a#READ":  {read: true},
		"ORG#a#WRITE": {read: true, write: true, append: true},
		"ORG#a#CHAIN": {read: true, append: true},
		"ORG#a#OTHER": {},
	} {
		k := table.Key{PK: pk, SK: "1"}
		_, err := s.Query(ctx, table.Query{PK: pk, Limit: 1})
		wantRefused(t, err, !allowed.read)
		_, err = s.BatchGet(ctx, table.Key{PK: "ORG#a#READ", SK: "1"}, k)
		wantRefused(t, err, !allowed.read)
		wantRefused(t, s.Transact(ctx, table.Check(k, table.Absent())), !allowed.read)
		_, err = s.Write(ctx, newPut(pk))
		wantRefused(t, err, !allowed.write)
		_, err = s.Write(ctx, table.Delete(k))
		wantRefused(t, err, !allowed.write)
		wantRefused(t, s.BatchWrite(ctx, newPut(pk), table.Delete(table.Key{PK: pk, SK: "2"})), !allowed.write)
		wantRefused(t, s.Transact(ctx, table.Delete(k)), !allowed.write)
		wantRefused(t, s.Transact(ctx, table.Update(k, []table.Change{table.Set("a", 1)})), !allowed.write)
		wantRefused(t, s.Transact(ctx, newPut(pk)), !allowed.write) // a put without a condition may replace an item
		it := table.Item{Key: table.Key{PK: pk, SK: "3"}, Data: []byte(`{}`)}
		wantRefused(t, s.Transact(ctx, table.Put(it, table.Absent())), !allowed.append)
	}
}

func newPut(pk string) table.Write {
	return table.Put(table.Item{Key: table.Key{PK: pk, SK: "1"}, Data: []byte(`{}`)})
}

func wantRefused(t *testing.T, err error, want bool) {
	t.Helper()
	if got := errors.Is(err, table.ErrFence); got != want {
		t.Errorf("refused: %t; %v", got, err)
	}
	if _, condition := errors.AsType[*table.ConditionError](err); err != nil && !errors.Is(err, table.ErrFence) &&
		!condition {
		t.Error(err)
	}
}
