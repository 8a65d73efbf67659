package transfer

// ListServersInput is the request of ListServers.
type ListServersInput struct {
	MaxResults *int32  `json:"MaxResults,omitzero"`
	NextToken  *string `json:"NextToken,omitzero"`
}

// ListServersOutput is the response of ListServers.
type ListServersOutput struct {
	NextToken *string        `json:"NextToken"`
	Servers   []ListedServer `json:"Servers"`
}

// ListedServer is a part of responses.
type ListedServer struct {
	Arn   *string `json:"Arn"`
	State State   `json:"State"`
}

// PageToken returns the place of the token that names the page.
func (i *ListServersInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *ListServersOutput) NextPageToken() *string { return o.NextToken }

// State is a state of a server, in AWS's words.
type State string
