package lambda

// DeleteFunctionConcurrencyInput is the request of DeleteFunctionConcurrency.
type DeleteFunctionConcurrencyInput struct {
	FunctionName *string `json:"-" uri:"FunctionName"`
}

// DeleteFunctionConcurrencyOutput is the response of DeleteFunctionConcurrency.
type DeleteFunctionConcurrencyOutput struct{}

// DeleteProvisionedConcurrencyConfigInput is the request of DeleteProvisionedConcurrencyConfig.
type DeleteProvisionedConcurrencyConfigInput struct {
	FunctionName *string `json:"-" uri:"FunctionName"`
	Qualifier    *string `json:"-" query:"Qualifier"`
}

// DeleteProvisionedConcurrencyConfigOutput is the response of DeleteProvisionedConcurrencyConfig.
type DeleteProvisionedConcurrencyConfigOutput struct{}

// GetFunctionConcurrencyInput is the request of GetFunctionConcurrency.
type GetFunctionConcurrencyInput struct {
	FunctionName *string `json:"-" uri:"FunctionName"`
}

// GetFunctionConcurrencyOutput is the response of GetFunctionConcurrency.
type GetFunctionConcurrencyOutput struct {
	ReservedConcurrentExecutions *int32 `json:"ReservedConcurrentExecutions"`
}

// ListFunctionEventInvokeConfigsInput is the request of ListFunctionEventInvokeConfigs.
type ListFunctionEventInvokeConfigsInput struct {
	FunctionName *string `json:"-" uri:"FunctionName"`
}

// ListFunctionEventInvokeConfigsOutput is the response of ListFunctionEventInvokeConfigs.
type ListFunctionEventInvokeConfigsOutput struct {
	FunctionEventInvokeConfigs []FunctionEventInvokeConfig `json:"FunctionEventInvokeConfigs"`
}

// ListFunctionsInput is the request of ListFunctions.
type ListFunctionsInput struct {
	Marker   *string `json:"-" query:"Marker"`
	MaxItems *int32  `json:"-" query:"MaxItems"`
}

// ListFunctionsOutput is the response of ListFunctions.
type ListFunctionsOutput struct {
	Functions  []FunctionConfiguration `json:"Functions"`
	NextMarker *string                 `json:"NextMarker"`
}

// ListProvisionedConcurrencyConfigsInput is the request of ListProvisionedConcurrencyConfigs.
type ListProvisionedConcurrencyConfigsInput struct {
	FunctionName *string `json:"-" uri:"FunctionName"`
	Marker       *string `json:"-" query:"Marker"`
}

// ListProvisionedConcurrencyConfigsOutput is the response of ListProvisionedConcurrencyConfigs.
type ListProvisionedConcurrencyConfigsOutput struct {
	NextMarker                    *string                                `json:"NextMarker"`
	ProvisionedConcurrencyConfigs []ProvisionedConcurrencyConfigListItem `json:"ProvisionedConcurrencyConfigs"`
}

// ListTagsInput is the request of ListTags.
type ListTagsInput struct {
	Resource *string `json:"-" uri:"Resource"`
}

// ListTagsOutput is the response of ListTags.
type ListTagsOutput struct {
	Tags map[string]string `json:"Tags"`
}

// PutFunctionConcurrencyInput is the request of PutFunctionConcurrency.
type PutFunctionConcurrencyInput struct {
	FunctionName                 *string `json:"-" uri:"FunctionName"`
	ReservedConcurrentExecutions *int32  `json:"ReservedConcurrentExecutions,omitzero"`
}

// PutFunctionConcurrencyOutput is the response of PutFunctionConcurrency.
type PutFunctionConcurrencyOutput struct{}

// PutProvisionedConcurrencyConfigInput is the request of PutProvisionedConcurrencyConfig.
type PutProvisionedConcurrencyConfigInput struct {
	FunctionName                    *string `json:"-" uri:"FunctionName"`
	ProvisionedConcurrentExecutions *int32  `json:"ProvisionedConcurrentExecutions,omitzero"`
	Qualifier                       *string `json:"-" query:"Qualifier"`
}

// PutProvisionedConcurrencyConfigOutput is the response of PutProvisionedConcurrencyConfig.
type PutProvisionedConcurrencyConfigOutput struct{}

// TagResourceInput is the request of TagResource.
type TagResourceInput struct {
	Resource *string           `json:"-" uri:"Resource"`
	Tags     map[string]string `json:"Tags,omitzero"`
}

// TagResourceOutput is the response of TagResource.
type TagResourceOutput struct{}

// UntagResourceInput is the request of UntagResource.
type UntagResourceInput struct {
	Resource *string  `json:"-" uri:"Resource"`
	TagKeys  []string `json:"-" query:"tagKeys"`
}

// UntagResourceOutput is the response of UntagResource.
type UntagResourceOutput struct{}

// FunctionEventInvokeConfig is a part of responses.
type FunctionEventInvokeConfig struct {
	DestinationConfig *DestinationConfig `json:"DestinationConfig"`
}

// FunctionConfiguration is a part of responses.
type FunctionConfiguration struct {
	Architectures    []Architecture    `json:"Architectures"`
	DeadLetterConfig *DeadLetterConfig `json:"DeadLetterConfig"`
	EphemeralStorage *EphemeralStorage `json:"EphemeralStorage"`
	FunctionArn      *string           `json:"FunctionArn"`
	FunctionName     *string           `json:"FunctionName"`
	LastModified     *string           `json:"LastModified"`
	MemorySize       *int32            `json:"MemorySize"`
	Runtime          Runtime           `json:"Runtime"`
	Timeout          *int32            `json:"Timeout"`
}

// ProvisionedConcurrencyConfigListItem is a part of responses.
type ProvisionedConcurrencyConfigListItem struct {
	FunctionArn                              *string                          `json:"FunctionArn"`
	RequestedProvisionedConcurrentExecutions *int32                           `json:"RequestedProvisionedConcurrentExecutions"`
	Status                                   ProvisionedConcurrencyStatusEnum `json:"Status"`
	StatusReason                             *string                          `json:"StatusReason"`
}

// DestinationConfig is a part of responses.
type DestinationConfig struct {
	OnFailure *OnFailure `json:"OnFailure"`
}

// DeadLetterConfig is a part of responses.
type DeadLetterConfig struct {
	TargetArn *string `json:"TargetArn"`
}

// EphemeralStorage is a part of responses.
type EphemeralStorage struct {
	Size *int32 `json:"Size"`
}

// OnFailure is a part of responses.
type OnFailure struct {
	Destination *string `json:"Destination"`
}

// PageToken returns the place of the token that names the page.
func (i *ListProvisionedConcurrencyConfigsInput) PageToken() **string { return &i.Marker }

// NextPageToken returns the token of the next page, or nil.
func (o *ListProvisionedConcurrencyConfigsOutput) NextPageToken() *string { return o.NextMarker }

// Architecture is an architecture in AWS's words.
type Architecture string

// ProvisionedConcurrencyStatusEnum is a provisioned concurrency status enum in AWS's words.
type ProvisionedConcurrencyStatusEnum string

// Runtime is a runtime in AWS's words.
type Runtime string

// Values of ProvisionedConcurrencyStatusEnum that Lamplighter knows.
const (
	ProvisionedConcurrencyStatusEnumFailed     ProvisionedConcurrencyStatusEnum = "FAILED"
	ProvisionedConcurrencyStatusEnumInProgress ProvisionedConcurrencyStatusEnum = "IN_PROGRESS"
	ProvisionedConcurrencyStatusEnumReady      ProvisionedConcurrencyStatusEnum = "READY"
)
