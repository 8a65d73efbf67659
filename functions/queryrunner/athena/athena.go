// Package athena runs SQL in Amazon Athena. It is a package of its own so that only one worker links the Athena client.
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

// Client runs queries in a workgroup. The workgroup limits the bytes that a query scans, and sets the place of the
// results.
type Client struct {
	api                 *athena.Client
	workgroup, database string
}

// New returns a client for queries of the database in the workgroup, in the account that cfg opens. Tests pass options
// for a stand-in of Athena.
func New(cfg aws.Config, workgroup, database string, options ...func(*athena.Options)) *Client {
	return &Client{athena.NewFromConfig(cfg, options...), workgroup, database}
}

// tokenLength is the minimum length of a token in characters.
const tokenLength = 32

// Start starts a query and returns its ID. A call with the same token returns the same query.
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

// State is the state of a query.
type State struct {
	Done    bool
	Failure string // reason of the failure or the stop; "" if it did not fail
	Scanned int64  // bytes, if it is done
}

// Look returns the state of a query.
func (c *Client) Look(ctx context.Context, queryID string) (State, error) {
	out, err := c.api.GetQueryExecution(ctx, &athena.GetQueryExecutionInput{QueryExecutionId: &queryID})
	if err != nil || out.QueryExecution == nil || out.QueryExecution.Status == nil {
		return State{}, fault.NewWithCause(fault.Unavailable, err, "Athena does not return the state of the query; "+
			"try again")
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

// Rows calls take with each row of a completed query. Values are texts; NULL is "".
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
			rows = rows[1:] // the first row holds the column names
		}
		for _, r := range rows {
			if err = take(rowTexts(r.Data)); err != nil {
				return err
			}
		}
	}
	return nil
}

func rowTexts(data []types.Datum) []string {
	out := make([]string, len(data))
	for i, d := range data {
		out[i] = aws.ToString(d.VarCharValue)
	}
	return out
}
