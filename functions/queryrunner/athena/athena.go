// Package athena has Amazon Athena run SQL. It stands apart so that only one worker links the service's client.
package athena

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/athena"
	"github.com/aws/aws-sdk-go-v2/service/athena/types"

	"lamplighter.dev/shared/foundation/fault"
)

// Client runs queries in a workgroup, which bounds what each scans and says where results are put.
type Client struct {
	api                 *athena.Client
	workgroup, database string
}

// New runs queries of the database in the workgroup, of the account that cfg opens. Options are for a stand-in of Athena.
func New(cfg aws.Config, workgroup, database string, options ...func(*athena.Options)) *Client {
	return &Client{athena.NewFromConfig(cfg, options...), workgroup, database}
}

// tokenLength is how long a token is at least.
const tokenLength = 32

// Start begins to run a query, and returns its id. The same token begins no second one.
func (c *Client) Start(ctx context.Context, token, sql string) (string, error) {
	out, err := c.api.StartQueryExecution(ctx, &athena.StartQueryExecutionInput{
		QueryString: &sql, WorkGroup: &c.workgroup,
		ClientRequestToken:    aws.String(fmt.Sprintf("%0*s", tokenLength, token)),
		QueryExecutionContext: &types.QueryExecutionContext{Database: &c.database},
	})
	if _, refused := errors.AsType[*types.InvalidRequestException](err); refused {
		return "", fault.NewWithCause(fault.Internal, err, "Athena refuses the query")
	}
	if err != nil {
		return "", fault.NewWithCause(fault.Unavailable, err, "Athena cannot be asked now")
	}
	return aws.ToString(out.QueryExecutionId), nil
}

// State is how far a query is.
type State struct {
	Done    bool
	Failure string // why it failed, or was stopped; "" when it did not
	Scanned int64  // bytes, of one that is done
}

// Look tells how far a query is.
func (c *Client) Look(ctx context.Context, queryID string) (State, error) {
	out, err := c.api.GetQueryExecution(ctx, &athena.GetQueryExecutionInput{QueryExecutionId: &queryID})
	if err != nil || out.QueryExecution == nil || out.QueryExecution.Status == nil {
		return State{}, fault.NewWithCause(fault.Unavailable, err, "Athena does not say how the query is")
	}
	e := out.QueryExecution
	var s State
	switch e.Status.State {
	case types.QueryExecutionStateSucceeded:
		s.Done = true
	case types.QueryExecutionStateFailed, types.QueryExecutionStateCancelled:
		s.Done, s.Failure = true, fmt.Sprintf("%s: %.300s", e.Status.State, aws.ToString(e.Status.StateChangeReason))
	case types.QueryExecutionStateQueued, types.QueryExecutionStateRunning:
	}
	if e.Statistics != nil {
		s.Scanned = aws.ToInt64(e.Statistics.DataScannedInBytes)
	}
	return s, nil
}

// Rows hands over the rows of a query that is done, each as texts, "" for NULL.
func (c *Client) Rows(ctx context.Context, queryID string, take func([]string) error) error {
	pages := athena.NewGetQueryResultsPaginator(c.api, &athena.GetQueryResultsInput{QueryExecutionId: &queryID})
	for header := true; pages.HasMorePages(); header = false {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fault.NewWithCause(fault.Unavailable, err, "the rows of the query cannot be read now")
		}
		if page.ResultSet == nil {
			continue
		}
		rows := page.ResultSet.Rows
		if header && len(rows) > 0 {
			rows = rows[1:] // the names of the columns
		}
		for _, r := range rows {
			if err = take(texts(r.Data)); err != nil {
				return err
			}
		}
	}
	return nil
}

func texts(data []types.Datum) []string {
	out := make([]string, len(data))
	for i, d := range data {
		out[i] = aws.ToString(d.VarCharValue)
	}
	return out
}
