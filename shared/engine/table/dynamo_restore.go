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

// restoreTime limits the wait for a restored table. DynamoDB copies large tables for hours.
const restoreTime = 24 * time.Hour

// Restored is a table restored from a backup, with the parameters for the template.
type Restored struct {
	Table  string
	Stream string // label of its stream
}

// RestoreTable creates the table `to` with the content that the table r had at the time at, within the 35 days of its
// continuous backups, or with the latest content if at is zero. DynamoDB restores only items and keys, so RestoreTable
// enables expiry, stream and backups afterwards. The table r does not change. It returns when the new table can be
// used.
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

// restoreInput returns the call that restores a table.
func restoreInput(from, to string, at time.Time) *dynamodb.RestoreTableToPointInTimeInput {
	in := &dynamodb.RestoreTableToPointInTimeInput{SourceTableName: &from, TargetTableName: &to}
	if at.IsZero() {
		in.UseLatestRestorableTime = aws.Bool(true)
	} else {
		in.RestoreDateTime = &at
	}
	return in
}

// enableStream enables the stream of the table, and waits until it is active.
func (d *DynamoDB) enableStream(ctx context.Context) error {
	_, err := d.db.UpdateTable(ctx,
		&dynamodb.UpdateTableInput{TableName: &d.table, StreamSpecification: streamOfImages})
	if err != nil {
		return fmt.Errorf("switch on the stream of %s: %w", d.table, err)
	}
	return d.waitUntilActive(ctx, restoreTime)
}

// KeepBackups enables continuous backups of the table r. In AWS the template does.
func KeepBackups(ctx context.Context, r Remote) error { return NewDynamoDB(r).keepBackups(ctx) }

// keepBackups enables continuous backups of the table.
func (d *DynamoDB) keepBackups(ctx context.Context) error {
	_, err := d.db.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
		TableName: &d.table,
		PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: aws.Bool(true),
		},
	})
	return fault.Wrap("keep backups of "+d.table, err)
}
