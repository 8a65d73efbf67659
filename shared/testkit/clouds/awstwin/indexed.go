package awstwin

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Indexed is a resource of any type, as the index and the tagging API know it. Type is Resource Explorer's word for
// the type. Region is "global" for a resource without a region. The tagging API knows the resources with Tags, in the
// region of the request.
type Indexed struct {
	ARN, Type, Region string
	Tags              map[string]string
}

// AddIndexed adds a resource to the index.
func (c *Cloud) AddIndexed(i Indexed) { add(c, &c.indexed, i) }

// Explore switches Resource Explorer on, with an index in every region, or off.
func (c *Cloud) Explore(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.explorer = on
}

func (c *Cloud) listExplored(q request) (any, *failure) {
	if !c.explorer {
		return nil, newFailure(http.StatusUnauthorized, "UnauthorizedException", "Unauthorized")
	}
	filters, _ := q.body["Filters"].(map[string]any)
	region := strings.TrimPrefix(filters["FilterString"].(string), "region:")
	found := slices.DeleteFunc(slices.Clone(c.indexed), func(i Indexed) bool { return i.Region != region })
	from, to, next := c.cutPage(q, len(found), "MaxResults", "NextToken")
	all := make([]map[string]any, 0, to-from)
	for _, i := range found[from:to] {
		var tags []map[string]string
		for k, v := range i.Tags {
			tags = append(tags, map[string]string{"Key": k, "Value": v})
		}
		all = append(all, map[string]any{
			"Arn": i.ARN, "ResourceType": i.Type, "Region": i.Region, "OwningAccountId": Account, "LastReportedAt": at,
			"Properties": []any{map[string]any{"Name": "tags", "LastReportedAt": at, "Data": tags}},
		})
	}
	return withToken(map[string]any{"Resources": all, "ViewArn": "arn:view"}, "NextToken", next), nil
}

func (c *Cloud) getTagged(q request) (any, *failure) {
	named := q.getList("ResourceARNList")
	found := slices.DeleteFunc(slices.Clone(c.indexed), func(i Indexed) bool {
		here := i.Region == q.region || i.Region == "global" && q.region == "us-east-1"
		return !here || len(i.Tags) == 0 || len(named) > 0 && !slices.Contains(named, i.ARN)
	})
	for _, f := range c.functions {
		if f.Region == q.region && len(f.Tags) > 0 && slices.Contains(named, f.ARN()) {
			found = append(found, Indexed{ARN: f.ARN(), Region: f.Region, Tags: f.Tags})
		}
	}
	from, to, next := c.cutPage(q, len(found), "ResourcesPerPage", "PaginationToken")
	all := make([]map[string]any, 0, to-from)
	for _, i := range found[from:to] {
		var tags []map[string]string
		for k, v := range i.Tags {
			tags = append(tags, map[string]string{"Key": k, "Value": v})
		}
		all = append(all, map[string]any{"ResourceARN": i.ARN, "Tags": tags})
	}
	return map[string]any{"ResourceTagMappingList": all, "PaginationToken": next}, nil
}

// withToken adds the token of the next page, if there is one.
func withToken(answer map[string]any, name, token string) map[string]any {
	if token != "" {
		answer[name] = token
	}
	return answer
}

// Bucket is an S3 bucket. Lifecycle says that it has a rule that ends uploads.
type Bucket struct {
	Name, Region, Versioning string
	Lifecycle                bool
}

// AddBucket adds a bucket.
func (c *Cloud) AddBucket(b Bucket) { add(c, &c.buckets, b) }

func (c *Cloud) listBuckets(q request) (any, *failure) {
	region := q.getString("bucket-region")
	found := slices.DeleteFunc(slices.Clone(c.buckets), func(b Bucket) bool {
		return region != "" && b.Region != region
	})
	from, to, next := c.cutPage(q, len(found), "max-buckets", "continuation-token")
	var nodes []node
	for _, b := range found[from:to] {
		nodes = append(nodes,
			newElement("Bucket", newText("Name", b.Name), newText("BucketRegion", b.Region),
				newText("CreationDate", at)))
	}
	return []node{newItems("Buckets", "Bucket", nodes), newText("ContinuationToken", next)}, nil
}

func (c *Cloud) bucket(q request) (Bucket, *failure) {
	at := slices.IndexFunc(c.buckets, func(b Bucket) bool { return b.Name == q.path[0] })
	if at < 0 {
		return Bucket{}, newFailure(http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist")
	}
	return c.buckets[at], nil
}

func (c *Cloud) getVersioning(q request) (any, *failure) {
	b, f := c.bucket(q)
	return []node{newText("Status", b.Versioning)}, f
}

func (c *Cloud) getLifecycle(q request) (any, *failure) {
	b, f := c.bucket(q)
	if f == nil && !b.Lifecycle {
		f = newFailure(http.StatusNotFound, "NoSuchLifecycleConfiguration",
			"The lifecycle configuration does not exist")
	}
	abort := newElement("AbortIncompleteMultipartUpload", newText("DaysAfterInitiation", "7"))
	return []node{newElement("Rule", newText("ID", "1"), newText("Status", "Enabled"), abort)}, f
}

// Queue is an SQS queue. DeadLetters names its dead-letter queue.
type Queue struct{ Name, Region, DeadLetters string }

// AddQueue adds a queue.
func (c *Cloud) AddQueue(q Queue) { add(c, &c.queues, q) }

func (c *Cloud) listQueues(q request) (any, *failure) {
	found := slices.DeleteFunc(slices.Clone(c.queues), func(k Queue) bool { return k.Region != q.region })
	from, to, next := c.cutPage(q, len(found), "MaxResults", "NextToken")
	urls := []string{}
	for _, k := range found[from:to] {
		urls = append(urls, "https://sqs."+k.Region+".amazonaws.com/"+Account+"/"+k.Name)
	}
	return withToken(map[string]any{"QueueUrls": urls}, "NextToken", next), nil
}

func (c *Cloud) getQueueAttributes(q request) (any, *failure) {
	url := q.getString("QueueUrl")
	for _, k := range c.queues {
		if k.Region == q.region && strings.HasSuffix(url, "/"+k.Name) {
			a := map[string]string{"CreatedTimestamp": "1767323045", "ReceiveMessageWaitTimeSeconds": "20"}
			if k.DeadLetters != "" {
				a["RedrivePolicy"] = `{"deadLetterTargetArn":"arn:aws:sqs:` + k.Region + ":" + Account + ":" +
					k.DeadLetters + `","maxReceiveCount":5}`
			}
			return map[string]any{"Attributes": a}, nil
		}
	}
	return nil, newFailure(http.StatusBadRequest, "AWS.SimpleQueueService.NonExistentQueue", "The specified queue "+
		"does not exist.")
}

// Repository is an ECR repository with a number of images of 1 GB each. The first image has a tag. Images are scanned
// when they are pushed, unless Unscanned is true.
type Repository struct {
	Name, Region string
	Images       int
	Unscanned    bool
}

// AddRepository adds a repository.
func (c *Cloud) AddRepository(r Repository) { add(c, &c.repositories, r) }

func (c *Cloud) describeRepositories(q request) (any, *failure) {
	found := slices.DeleteFunc(slices.Clone(c.repositories), func(r Repository) bool { return r.Region != q.region })
	from, to, next := c.cutPage(q, len(found), "maxResults", "nextToken")
	all := make([]map[string]any, 0, to-from)
	for _, r := range found[from:to] {
		all = append(all, map[string]any{
			"repositoryName":             r.Name,
			"repositoryArn":              "arn:aws:ecr:" + r.Region + ":" + Account + ":repository/" + r.Name,
			"createdAt":                  1767323045,
			"imageScanningConfiguration": map[string]any{"scanOnPush": !r.Unscanned},
		})
	}
	return withToken(map[string]any{"repositories": all}, "nextToken", next), nil
}

func (c *Cloud) describeECRImages(q request) (any, *failure) {
	var all []map[string]any
	for _, r := range c.repositories {
		for i := range r.Images {
			image := map[string]any{
				"imageSizeInBytes": 1_000_000_000, "imageDigest": "sha256:" + strconv.Itoa(i),
				"lastRecordedPullTime": 1767323045 + i,
			}
			if i == 0 {
				image["imageTags"] = []string{"latest"}
			}
			if r.Name == q.getString("repositoryName") {
				all = append(all, image)
			}
		}
	}
	return map[string]any{"imageDetails": all}, nil
}

func (c *Cloud) getLifecyclePolicy(q request) (any, *failure) {
	return nil, newFailure(http.StatusBadRequest, "LifecyclePolicyNotFoundException", "Lifecycle policy does not "+
		"exist for %s", q.getString("repositoryName"))
}
