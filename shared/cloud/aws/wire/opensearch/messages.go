package opensearch

// DescribeDomainsInput is the request of DescribeDomains.
type DescribeDomainsInput struct {
	DomainNames []string `json:"DomainNames,omitzero"`
}

// DescribeDomainsOutput is the response of DescribeDomains.
type DescribeDomainsOutput struct {
	DomainStatusList []DomainStatus `json:"DomainStatusList"`
}

// ListDomainNamesInput is the request of ListDomainNames.
type ListDomainNamesInput struct{}

// ListDomainNamesOutput is the response of ListDomainNames.
type ListDomainNamesOutput struct {
	DomainNames []DomainInfo `json:"DomainNames"`
}

// DomainStatus is a part of responses.
type DomainStatus struct {
	ARN            *string         `json:"ARN"`
	ClusterConfig  *ClusterConfig  `json:"ClusterConfig"`
	DomainName     *string         `json:"DomainName"`
	AccessPolicies *string         `json:"AccessPolicies"`
	Created        *bool           `json:"Created"`
	Deleted        *bool           `json:"Deleted"`
	EBSOptions     *EBSOptions     `json:"EBSOptions"`
	EngineVersion  *string         `json:"EngineVersion"`
	VPCOptions     *VPCDerivedInfo `json:"VPCOptions"`
}

// DomainInfo is a part of responses.
type DomainInfo struct {
	DomainName *string `json:"DomainName"`
}

// ClusterConfig is a part of responses.
type ClusterConfig struct {
	DedicatedMasterCount *int32                          `json:"DedicatedMasterCount"`
	InstanceCount        *int32                          `json:"InstanceCount"`
	InstanceType         OpenSearchPartitionInstanceType `json:"InstanceType"`
	WarmCount            *int32                          `json:"WarmCount"`
	ZoneAwarenessEnabled *bool                           `json:"ZoneAwarenessEnabled"`
}

// EBSOptions is a part of responses.
type EBSOptions struct {
	EBSEnabled *bool      `json:"EBSEnabled"`
	VolumeSize *int32     `json:"VolumeSize"`
	VolumeType VolumeType `json:"VolumeType"`
}

// VPCDerivedInfo is a part of responses.
type VPCDerivedInfo struct {
	VPCId *string `json:"VPCId"`
}

// OpenSearchPartitionInstanceType is an open search partition instance type in AWS's words.
type OpenSearchPartitionInstanceType string

// VolumeType is a volume type in AWS's words.
type VolumeType string
