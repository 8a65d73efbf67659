package queryrunner

import (
	"context"

	"lamplighter.dev/functions/queryrunner/athena"
	"lamplighter.dev/shared/domain/costquery"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Athena answers questions by Amazon Athena, the engine for more data than one machine can query.
type Athena struct{ client *athena.Client }

// NewAthena returns an engine for a client whose database has the table of line items.
func NewAthena(c *athena.Client) Athena { return Athena{c} }

// Advance starts the query of a question or polls it. A query that failed in Athena is fault.Invalid, because the same
// query would fail again.
func (a Athena) Advance(ctx context.Context, j *costquery.Job) (costquery.Step, error) {
	if j.Execution == "" {
		started, err := a.client.Start(ctx, j.ID, j.Query.SQL(j.Org, j.Items))
		return costquery.Step{Execution: started}, err
	}
	s, err := a.client.Look(ctx, j.Execution)
	switch {
	case err != nil:
		return costquery.Step{}, err
	case s.Failure != "":
		return costquery.Step{}, fault.New(fault.Invalid, "Athena did not answer, %s", s.Failure)
	case !s.Done:
		return costquery.Step{Execution: j.Execution}, nil
	}
	answer, err := a.answer(ctx, j)
	return costquery.Step{Answer: &answer, Scanned: s.Scanned}, err
}

func (a Athena) answer(ctx context.Context, j *costquery.Job) (costquery.Answer, error) {
	var rows []costquery.Row
	err := a.client.Rows(ctx, j.Execution, func(texts []string) error {
		r, err := readRow(texts, len(j.Query.Measures))
		rows = append(rows, r)
		return err
	})
	return costquery.NewAnswer(j.Query, rows), err
}

// readRow reads a row of costquery.Query.SQL: the keys, and for each measure a sum and the amount that the sum lacks.
func readRow(texts []string, measures int) (costquery.Row, error) {
	keys := len(texts) - 2*measures
	if keys < 1 {
		return costquery.Row{}, fault.New(fault.Internal, "a row of %d texts for %d measures", len(texts), measures)
	}
	r := costquery.Row{Keys: texts[:keys]}
	for i := keys; i < len(texts); i += 2 {
		sum, err := money.Parse(texts[i])
		if err != nil {
			return r, fault.NewWithCause(fault.Internal, err, "Athena answered a sum that is none")
		}
		rest, err := money.Parse(texts[i+1])
		if err != nil {
			return r, fault.NewWithCause(fault.Internal, err, "Athena answered a sum that is none")
		}
		r.Amounts = append(r.Amounts, sum.Add(rest))
	}
	return r, nil
}

var _ costquery.Engine = Athena{}
