package cloud

import "context"

// Member is an account of an organization of a cloud.
type Member struct {
	NativeID string
	Name     string
	Units    []Unit            // that it lies in, the innermost first
	Tags     map[string]string // nil when they were not asked for
	Closed   bool              // it is suspended or being closed: nothing opens it any more
	// AuthMethod and Credentials open the member; an empty AuthMethod says that those of the connection do.
	AuthMethod  string
	Credentials map[string]string
}

// Unit is a group of an organization's members: an organizational unit, a management group, a folder. The root is a
// unit too.
type Unit struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Organisations is an optional interface of a Conn whose provider has organizations of accounts. Errors are as for
// Conn. A listing may be long, so its only deadline is ctx's.
type Organisations interface {
	// Organisation tells the native id of the organization, whose members the credentials list.
	Organisation(ctx context.Context) (string, error)
	// Members lists the accounts of the organization, closed ones too; with their tags, which may cost a call each,
	// where tags is true.
	Members(ctx context.Context, tags bool) ([]Member, error)
}

// MaxMembers bounds the members of one organization: AWS, which has the lowest, gives no more accounts to one without
// being asked.
const MaxMembers = 10_000
