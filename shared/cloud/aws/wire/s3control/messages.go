package s3control

import "encoding/xml"

// GetPublicAccessBlockInput is the request of GetPublicAccessBlock.
type GetPublicAccessBlockInput struct {
	AccountId *string `header:"X-Amz-Account-Id"`
}

// GetPublicAccessBlockOutput is the response of GetPublicAccessBlock.
type GetPublicAccessBlockOutput struct {
	PublicAccessBlockConfiguration *PublicAccessBlockConfiguration
}

// UnmarshalXML reads the root of the response, which is the configuration itself.
func (o *GetPublicAccessBlockOutput) UnmarshalXML(d *xml.Decoder, root xml.StartElement) error {
	return d.DecodeElement(&o.PublicAccessBlockConfiguration, &root)
}

// PublicAccessBlockConfiguration is a part of responses.
type PublicAccessBlockConfiguration struct {
	BlockPublicAcls       *bool `xml:"BlockPublicAcls"`
	BlockPublicPolicy     *bool `xml:"BlockPublicPolicy"`
	IgnorePublicAcls      *bool `xml:"IgnorePublicAcls"`
	RestrictPublicBuckets *bool `xml:"RestrictPublicBuckets"`
}
