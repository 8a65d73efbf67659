package bcmdataexports

// GetExportInput is the request of GetExport.
type GetExportInput struct {
	ExportArn *string `json:"ExportArn,omitzero"`
}

// GetExportOutput is the response of GetExport.
type GetExportOutput struct {
	Export       *Export       `json:"Export"`
	ExportStatus *ExportStatus `json:"ExportStatus"`
}

// ListExportsInput is the request of ListExports.
type ListExportsInput struct {
	MaxResults *int32  `json:"MaxResults,omitzero"`
	NextToken  *string `json:"NextToken,omitzero"`
}

// ListExportsOutput is the response of ListExports.
type ListExportsOutput struct {
	Exports   []ExportReference `json:"Exports"`
	NextToken *string           `json:"NextToken"`
}

// Export is a part of responses.
type Export struct {
	DataQuery                 *DataQuery                 `json:"DataQuery"`
	DestinationConfigurations *DestinationConfigurations `json:"DestinationConfigurations"`
	Name                      *string                    `json:"Name"`
}

// ExportStatus is a part of responses.
type ExportStatus struct {
	StatusCode   ExportStatusCode      `json:"StatusCode"`
	StatusReason ExecutionStatusReason `json:"StatusReason"`
}

// ExportReference is a part of responses.
type ExportReference struct {
	ExportArn *string `json:"ExportArn"`
}

// DataQuery is a part of responses.
type DataQuery struct {
	QueryStatement *string `json:"QueryStatement"`
}

// DestinationConfigurations is a part of responses.
type DestinationConfigurations struct {
	S3Destination *S3Destination `json:"S3Destination"`
}

// S3Destination is a part of responses.
type S3Destination struct {
	S3Bucket *string `json:"S3Bucket"`
	S3Prefix *string `json:"S3Prefix"`
	S3Region *string `json:"S3Region"`
}

// PageToken returns the place of the token that names the page.
func (i *ListExportsInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *ListExportsOutput) NextPageToken() *string { return o.NextToken }

// ExecutionStatusReason is an execution status reason in AWS's words.
type ExecutionStatusReason string

// ExportStatusCode is an export status code in AWS's words.
type ExportStatusCode string

// Values of ExportStatusCode that Lamplighter knows.
const (
	ExportStatusCodeUnhealthy ExportStatusCode = "UNHEALTHY"
)
