package resource

import (
	"context"
	"strconv"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// Changer opens a kind that can be changed in a place.
type Changer struct {
	Type string
	Open func(at Place) cloud.Changeable
}

// LastOf returns the id at the end of an ARN of EC2: vol-1 of arn:aws:ec2:eu-west-1:1:volume/vol-1.
func LastOf(uid string) string { return uid[strings.LastIndex(uid, "/")+1:] }

// WriteOnce returns a context for a call that changes something. It is made again only if AWS has throttled it: whether
// an unanswered call took effect is read, and the call is not repeated.
func WriteOnce(ctx context.Context) context.Context { return wire.WithOneWrite(ctx) }

// Filtered returns a filter of EC2 with one value.
func Filtered(name, value string) ec2.Filter {
	return ec2.Filter{Name: sdk.String(name), Values: []string{value}}
}

// MarkOf returns the mark among tags, "" for none.
func MarkOf(tags []ec2.Tag) string { return Ec2Tags(tags)[cloud.MarkTag] }

// SetMark sets the mark of a resource of EC2, or removes it if it is "".
func SetMark(ctx context.Context, api *ec2.Client, id, mark string) error {
	var err error
	if mark == "" {
		_, err = api.DeleteTags(WriteOnce(ctx), &ec2.DeleteTagsInput{
			Resources: []string{id}, Tags: []ec2.TagEntry{{Key: sdk.String(cloud.MarkTag)}},
		})
	} else {
		_, err = api.CreateTags(WriteOnce(ctx), &ec2.CreateTagsInput{
			Resources: []string{id}, Tags: []ec2.TagEntry{{Key: sdk.String(cloud.MarkTag), Value: sdk.String(mark)}},
		})
	}
	return err
}

// TagsFor returns the tags that a new resource gets: those in tags, and key with value. Tags that only AWS sets are
// left out.
func TagsFor(kind ec2.ResourceType, tags map[string]string, key, value string) []ec2.TagSpecification {
	entries := []ec2.TagEntry{{Key: sdk.String(key), Value: sdk.String(value)}}
	for _, k := range sortedKeys(tags) {
		if k != key && k != cloud.MarkTag && !strings.HasPrefix(k, "aws:") {
			entries = append(entries, ec2.TagEntry{Key: sdk.String(k), Value: sdk.String(tags[k])})
		}
	}
	return []ec2.TagSpecification{{ResourceType: kind, Tags: entries}}
}

// TextOf returns a number as a value of a change; "" for none.
func TextOf(n *int32) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(int64(*n), 10)
}

// NumberOf returns the number of a value of a change; nil for "".
func NumberOf(text string) (*int32, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return nil, cloud.ErrInvalid("%.40q is no whole number of 0 or more", text)
	}
	return sdk.Int32(int32(n)), nil
}
