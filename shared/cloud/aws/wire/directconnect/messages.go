package directconnect

// DescribeConnectionsInput is the request of DescribeConnections.
type DescribeConnectionsInput struct{}

// DescribeConnectionsOutput is the response of DescribeConnections.
type DescribeConnectionsOutput struct {
	Connections []Connection `json:"connections"`
}

// DescribeVirtualInterfacesInput is the request of DescribeVirtualInterfaces.
type DescribeVirtualInterfacesInput struct{}

// DescribeVirtualInterfacesOutput is the response of DescribeVirtualInterfaces.
type DescribeVirtualInterfacesOutput struct {
	VirtualInterfaces []VirtualInterface `json:"virtualInterfaces"`
}

// Connection is a part of responses.
type Connection struct {
	Bandwidth       *string         `json:"bandwidth"`
	ConnectionId    *string         `json:"connectionId"`
	ConnectionState ConnectionState `json:"connectionState"`
	LagId           *string         `json:"lagId"`
	Location        *string         `json:"location"`
}

// VirtualInterface is a part of responses.
type VirtualInterface struct {
	ConnectionId          *string               `json:"connectionId"`
	VirtualInterfaceState VirtualInterfaceState `json:"virtualInterfaceState"`
}

// ConnectionState is a state of a connection, in AWS's words.
type ConnectionState string

// VirtualInterfaceState is a state of a virtual interface, in AWS's words.
type VirtualInterfaceState string
