package apprunner

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// DescribeServiceInput is the request of DescribeService.
type DescribeServiceInput struct {
	ServiceArn *string `json:"ServiceArn,omitzero"`
}

// DescribeServiceOutput is the response of DescribeService.
type DescribeServiceOutput struct {
	Service *Service `json:"Service"`
}

// ListServicesInput is the request of ListServices.
type ListServicesInput struct {
	MaxResults *int32  `json:"MaxResults,omitzero"`
	NextToken  *string `json:"NextToken,omitzero"`
}

// ListServicesOutput is the response of ListServices.
type ListServicesOutput struct {
	ServiceSummaryList []ServiceSummary `json:"ServiceSummaryList"`
	NextToken          *string          `json:"NextToken"`
}

// PauseServiceInput is the request of PauseService.
type PauseServiceInput struct {
	ServiceArn *string `json:"ServiceArn,omitzero"`
}

// PauseServiceOutput is the response of PauseService.
type PauseServiceOutput struct{}

// ResumeServiceInput is the request of ResumeService.
type ResumeServiceInput struct {
	ServiceArn *string `json:"ServiceArn,omitzero"`
}

// ResumeServiceOutput is the response of ResumeService.
type ResumeServiceOutput struct{}

// Service is a part of responses.
type Service struct {
	Status ServiceStatus `json:"Status"`
}

// ServiceSummary is a part of responses.
type ServiceSummary struct {
	CreatedAt   *wire.Time    `json:"CreatedAt"`
	ServiceArn  *string       `json:"ServiceArn"`
	ServiceName *string       `json:"ServiceName"`
	Status      ServiceStatus `json:"Status"`
}

// ServiceStatus is a service status in AWS's words.
type ServiceStatus string

// Values of ServiceStatus that Lamplighter knows.
const (
	ServiceStatusDeleted             ServiceStatus = "DELETED"
	ServiceStatusOperationInProgress ServiceStatus = "OPERATION_IN_PROGRESS"
	ServiceStatusPaused              ServiceStatus = "PAUSED"
	ServiceStatusRunning             ServiceStatus = "RUNNING"
)
