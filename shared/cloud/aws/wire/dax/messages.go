package dax

// DescribeClustersInput is the request of DescribeClusters.
type DescribeClustersInput struct {
	MaxResults *int32  `json:"MaxResults,omitzero"`
	NextToken  *string `json:"NextToken,omitzero"`
}

// DescribeClustersOutput is the response of DescribeClusters.
type DescribeClustersOutput struct {
	Clusters  []Cluster `json:"Clusters"`
	NextToken *string   `json:"NextToken"`
}

// Cluster is a part of responses.
type Cluster struct {
	ClusterArn *string `json:"ClusterArn"`
	TotalNodes *int32  `json:"TotalNodes"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeClustersInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeClustersOutput) NextPageToken() *string { return o.NextToken }
