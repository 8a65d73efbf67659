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

// Unit is what an organization sorts its members into: an organizational unit, a management group, a folder. Its root is one too.
type Unit struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Organisations is what a Conn can be asked besides, where its provider knows organizations of accounts. Errors are as for Conn; a
// listing has no deadline of its own but ctx's, for it may be long.
type Organisations interface {
	// Organisation tells the native id of the organization, whose members the credentials list.
	Organisation(ctx context.Context) (string, error)
	// Members lists the accounts of the organization, closed ones too; with their tags, which may cost a call each, where tags is true.
	Members(ctx context.Context, tags bool) ([]Member, error)
}

// MaxMembers bounds the members of one organization: AWS, which has the lowest, gives no more accounts to one without being asked.
const MaxMembers = 10_000
