package storage

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/sqs"
)

// Queues are SQS queues.
var Queues = resource.Source{
	Name: "queues", Needs: []string{"sqs:ListQueues", "sqs:GetQueueAttributes", "tag:GetResources"}, List: listQueues,
}

func listQueues(ctx context.Context, at resource.Place, page string) (cloud.ResourcePage, error) {
	api := sqs.NewFromConfig(at.Cfg)
	out, err := api.ListQueues(ctx,
		&sqs.ListQueuesInput{MaxResults: sdk.Int32(500), NextToken: resource.OptionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	found := make([]map[string]string, len(out.QueueUrls))
	resource.AskEach(len(found), func(i int) {
		got, err := api.GetQueueAttributes(ctx,
			&sqs.GetQueueAttributesInput{
				QueueUrl:       &out.QueueUrls[i],
				AttributeNames: []sqs.QueueAttributeName{"All"},
			})
		if err == nil {
			found[i] = got.Attributes
		}
	})
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextToken)}
	whole := page == "" && p.Next == ""
	for i, url := range out.QueueUrls {
		p.Resources = append(p.Resources, queueResource(at, url, found[i]))
		whole = whole && found[i] != nil
	}
	if whole {
		addDeadLetters(found, p.Resources)
	}
	return p, resource.AddTags(ctx, at, p.Resources)
}

// queueResource makes the resource of a queue; attributes are nil if they could not be read.
func queueResource(at resource.Place, url string, attributes map[string]string) cloud.Resource {
	name := resource.LastPart(url)
	r := cloud.Resource{
		UID:  "arn:" + resource.PartitionOf(at.Region) + ":sqs:" + at.Region + ":" + at.Account + ":" + name,
		Name: name, Type: "aws-sqs", Status: cloud.Running,
	}
	if attributes == nil {
		return r
	}
	wait, _ := strconv.ParseFloat(attributes["ReceiveMessageWaitTimeSeconds"], 64)
	r.Facts = cloud.Facts{"dead_letter": attributes["RedrivePolicy"] != "", "wait_seconds": wait}
	if made, err := strconv.ParseInt(attributes["CreatedTimestamp"], 10, 64); err == nil {
		r.CreatedAt = time.Unix(made, 0).UTC()
	}
	return r
}

// addDeadLetters adds whether a queue is the dead-letter queue of another. It needs all queues of the region.
func addDeadLetters(attributes []map[string]string, found []cloud.Resource) {
	targets := map[string]bool{}
	for _, a := range attributes {
		var policy struct {
			Target string `json:"deadLetterTargetArn"`
		}
		if json.Unmarshal([]byte(a["RedrivePolicy"]), &policy) == nil {
			targets[policy.Target] = true
		}
	}
	for i := range found {
		found[i].Facts["is_dead_letter"] = targets[found[i].UID]
	}
}
