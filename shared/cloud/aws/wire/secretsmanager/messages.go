package secretsmanager

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// ListSecretsInput is the request of ListSecrets.
type ListSecretsInput struct {
	MaxResults *int32  `json:"MaxResults,omitzero"`
	NextToken  *string `json:"NextToken,omitzero"`
}

// ListSecretsOutput is the response of ListSecrets.
type ListSecretsOutput struct {
	NextToken  *string           `json:"NextToken"`
	SecretList []SecretListEntry `json:"SecretList"`
}

// SecretListEntry is a part of responses.
type SecretListEntry struct {
	ARN              *string    `json:"ARN"`
	CreatedDate      *wire.Time `json:"CreatedDate"`
	LastAccessedDate *wire.Time `json:"LastAccessedDate"`
	OwningService    *string    `json:"OwningService"`
	RotationEnabled  *bool      `json:"RotationEnabled"`
}

// PageToken returns the place of the token that names the page.
func (i *ListSecretsInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *ListSecretsOutput) NextPageToken() *string { return o.NextToken }
