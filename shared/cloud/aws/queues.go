package aws

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/wire/sqs"
)

// queues are SQS queues.
var queues = source{
	name: "queues", needs: []string{"sqs:ListQueues", "sqs:GetQueueAttributes", "tag:GetResources"}, list: listQueues,
}

func listQueues(ctx context.Context, at place, page string) (cloud.ResourcePage, error) {
	api := sqs.NewFromConfig(at.cfg)
	out, err := api.ListQueues(ctx, &sqs.ListQueuesInput{MaxResults: sdk.Int32(500), NextToken: optionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	found := make([]map[string]string, len(out.QueueUrls))
	each(len(found), func(i int) {
		got, err := api.GetQueueAttributes(ctx,
			&sqs.GetQueueAttributesInput{QueueUrl: &out.QueueUrls[i],
				AttributeNames: []sqs.QueueAttributeName{"All"}})
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
	return p, addTags(ctx, at, p.Resources)
}

// queueResource makes the resource of a queue; attributes are nil when they could not be read.
func queueResource(at place, url string, attributes map[string]string) cloud.Resource {
	name := lastPart(url)
	r := cloud.Resource{
		UID:  "arn:" + partitionOf(at.region) + ":sqs:" + at.region + ":" + at.account + ":" + name,
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

// addDeadLetters adds which queues are those of dead letters of others. It needs all queues of the region.
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
