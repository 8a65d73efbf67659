package organizations

// DescribeOrganizationInput is the request of DescribeOrganization.
type DescribeOrganizationInput struct{}

// DescribeOrganizationOutput is the response of DescribeOrganization.
type DescribeOrganizationOutput struct {
	Organization *Organization `json:"Organization"`
}

// ListAccountsForParentInput is the request of ListAccountsForParent.
type ListAccountsForParentInput struct {
	ParentId  *string `json:"ParentId,omitzero"`
	NextToken *string `json:"NextToken,omitzero"`
}

// ListAccountsForParentOutput is the response of ListAccountsForParent.
type ListAccountsForParentOutput struct {
	Accounts  []Account `json:"Accounts"`
	NextToken *string   `json:"NextToken"`
}

// ListOrganizationalUnitsForParentInput is the request of ListOrganizationalUnitsForParent.
type ListOrganizationalUnitsForParentInput struct {
	ParentId  *string `json:"ParentId,omitzero"`
	NextToken *string `json:"NextToken,omitzero"`
}

// ListOrganizationalUnitsForParentOutput is the response of ListOrganizationalUnitsForParent.
type ListOrganizationalUnitsForParentOutput struct {
	NextToken           *string              `json:"NextToken"`
	OrganizationalUnits []OrganizationalUnit `json:"OrganizationalUnits"`
}

// ListRootsInput is the request of ListRoots.
type ListRootsInput struct {
	NextToken *string `json:"NextToken,omitzero"`
}

// ListRootsOutput is the response of ListRoots.
type ListRootsOutput struct {
	NextToken *string `json:"NextToken"`
	Roots     []Root  `json:"Roots"`
}

// ListTagsForResourceInput is the request of ListTagsForResource.
type ListTagsForResourceInput struct {
	ResourceId *string `json:"ResourceId,omitzero"`
	NextToken  *string `json:"NextToken,omitzero"`
}

// ListTagsForResourceOutput is the response of ListTagsForResource.
type ListTagsForResourceOutput struct {
	NextToken *string `json:"NextToken"`
	Tags      []Tag   `json:"Tags"`
}

// Organization is a part of responses.
type Organization struct {
	Id              *string `json:"Id"`
	MasterAccountId *string `json:"MasterAccountId"`
}

// Account is a part of responses.
type Account struct {
	Id     *string       `json:"Id"`
	Name   *string       `json:"Name"`
	State  AccountState  `json:"State"`
	Status AccountStatus `json:"Status"`
}

// OrganizationalUnit is a part of responses.
type OrganizationalUnit struct {
	Id   *string `json:"Id"`
	Name *string `json:"Name"`
}

// Root is a part of responses.
type Root struct {
	Id   *string `json:"Id"`
	Name *string `json:"Name"`
}

// Tag is a part of responses.
type Tag struct {
	Key   *string `json:"Key"`
	Value *string `json:"Value"`
}

// PageToken returns the place of the token that names the page.
func (i *ListAccountsForParentInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *ListAccountsForParentOutput) NextPageToken() *string { return o.NextToken }

// PageToken returns the place of the token that names the page.
func (i *ListOrganizationalUnitsForParentInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *ListOrganizationalUnitsForParentOutput) NextPageToken() *string { return o.NextToken }

// PageToken returns the place of the token that names the page.
func (i *ListRootsInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *ListRootsOutput) NextPageToken() *string { return o.NextToken }

// PageToken returns the place of the token that names the page.
func (i *ListTagsForResourceInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *ListTagsForResourceOutput) NextPageToken() *string { return o.NextToken }

// AccountState is an account state in AWS's words.
type AccountState string

// AccountStatus is an account status in AWS's words.
type AccountStatus string

// Values of AccountState that Lamplighter knows.
const (
	AccountStateClosed         AccountState = "CLOSED"
	AccountStatePendingClosure AccountState = "PENDING_CLOSURE"
	AccountStateSuspended      AccountState = "SUSPENDED"
)

// Values of AccountStatus that Lamplighter knows.
const (
	AccountStatusPendingClosure AccountStatus = "PENDING_CLOSURE"
	AccountStatusSuspended      AccountStatus = "SUSPENDED"
)
