package table

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lamplighter.dev/shared/foundation/fault"
)

// restoreTime bounds the wait for a restored table: DynamoDB copies big ones for hours.
const restoreTime = 24 * time.Hour

// Restored is a table that was made of a backup, as the template has to be told of it.
type Restored struct {
	Table  string
	Stream string // the label of its stream
}

// RestoreTable makes the table to of what the table r held at a moment within the 35 days of its continuous backups, or of the
// latest that they have when at is zero. DynamoDB restores items and keys alone, so the expiry of items, the stream and the
// backups are switched on afterwards. The table r stays as it is. It returns when the table can be used.
func RestoreTable(ctx context.Context, r Remote, to string, at time.Time) (Restored, error) {
	d := NewDynamoDB(r)
	_, err := d.callWithRetry(ctx, true, func(ctx context.Context) error {
		_, err := d.db.RestoreTableToPointInTime(ctx, restoreInput(d.table, to, at))
		return err
	})
	if err != nil {
		return Restored{}, fault.Wrap("restore table "+d.table+" as "+to, err)
	}
	d.table = to
	if err = d.waitUntilActive(ctx, restoreTime); err != nil {
		return Restored{}, fault.Wrap("restore table "+r.Table+" as "+to, err)
	}
	if err = d.enableStream(ctx); err == nil {
		err = d.expireItems(ctx)
	}
	if err == nil {
		err = d.keepBackups(ctx)
	}
	if err != nil {
		return Restored{}, err
	}
	out, err := d.db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &to})
	if err != nil {
		return Restored{}, fault.Wrap("describe table "+to, err)
	}
	return Restored{to, aws.ToString(out.Table.LatestStreamLabel)}, nil
}

// restoreInput asks for a table as it was at a moment.
func restoreInput(from, to string, at time.Time) *dynamodb.RestoreTableToPointInTimeInput {
	in := &dynamodb.RestoreTableToPointInTimeInput{SourceTableName: &from, TargetTableName: &to}
	if at.IsZero() {
		in.UseLatestRestorableTime = aws.Bool(true)
	} else {
		in.RestoreDateTime = &at
	}
	return in
}

// enableStream has the table deliver what is written to it, and waits until it does.
func (d *DynamoDB) enableStream(ctx context.Context) error {
	_, err := d.db.UpdateTable(ctx,
		&dynamodb.UpdateTableInput{TableName: &d.table, StreamSpecification: streamOfImages})
	if err != nil {
		return fmt.Errorf("switch on the stream of %s: %w", d.table, err)
	}
	return d.waitUntilActive(ctx, restoreTime)
}

// KeepBackups keeps continuous backups of the table r, from now on. In AWS the template does.
func KeepBackups(ctx context.Context, r Remote) error { return NewDynamoDB(r).keepBackups(ctx) }

// keepBackups keeps continuous backups of the table.
func (d *DynamoDB) keepBackups(ctx context.Context) error {
	_, err := d.db.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
		TableName:                        &d.table,
		PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)},
	})
	return fault.Wrap("keep backups of "+d.table, err)
}
