package table

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"lamplighter.dev/shared/foundation/fault"
)

// CreateTable creates the table r with the settings that the service needs, and waits until it can be used. It is for
// emulators and tests; in AWS the template creates the table. It is no error if the table exists.
func CreateTable(ctx context.Context, r Remote) error {
	d := NewDynamoDB(r)
	_, err := d.callWithRetry(ctx, false, func(ctx context.Context) error {
		_, err := d.db.CreateTable(ctx, tableInput(d.table))
		if _, there := errors.AsType[*types.ResourceInUseException](err); there {
			return nil
		}
		return err
	})
	if err == nil {
		err = d.waitUntilActive(ctx, time.Minute)
	}
	if err != nil {
		return fault.Wrap("create table "+d.table, err)
	}
	return d.expireItems(ctx)
}

// waitUntilActive waits until the table can be used.
func (d *DynamoDB) waitUntilActive(ctx context.Context, most time.Duration) error {
	return dynamodb.NewTableExistsWaiter(d.db, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 50*time.Millisecond, time.Second
	}).Wait(ctx, &dynamodb.DescribeTableInput{TableName: &d.table}, most)
}

// expireItems enables the removal of expired items.
func (d *DynamoDB) expireItems(ctx context.Context) error {
	_, err := d.db.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: &d.table,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String(expiresAttr),
			Enabled:       aws.Bool(true),
		},
	})
	if e, ok := errors.AsType[smithy.APIError](err); ok && strings.Contains(e.ErrorMessage(), "already enabled") {
		return nil
	}
	return fault.Wrap("let items of "+d.table+" expire", err)
}

// streamOfImages are the settings of a stream of old and new images.
var streamOfImages = &types.StreamSpecification{
	StreamEnabled:  aws.Bool(true),
	StreamViewType: types.StreamViewTypeNewAndOldImages,
}

// tableInput returns the call that creates the table.
func tableInput(name string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName:   &name,
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String(pkAttr), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String(skAttr), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String(pkAttr), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String(skAttr), KeyType: types.KeyTypeRange},
		},
		StreamSpecification: streamOfImages,
	}
}
