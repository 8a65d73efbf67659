package cloud

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// gossip is a cloud that repeats the secret in all its answers.
type gossip struct{ Provider }

const told = "longsecretvalue"

func says() error {
	return &Error{Class: Refused, Op: "x:Y", Code: "No " + told, Message: "you sent " + told, Err: context.Canceled}
}

func (gossip) Connect(context.Context, Account) (Conn, error)                { return gossip{}, nil }
func (gossip) Identify(context.Context) (string, error)                      { return "", says() }
func (gossip) Regions(context.Context) ([]string, error)                     { return nil, says() }
func (gossip) Scale(context.Context, string, string, string, Capacity) error { return says() }
func (gossip) ClusterNames(context.Context, string) ([]string, error)        { return nil, says() }

func (gossip) List(context.Context, string, string, string) (ResourcePage, error) {
	return ResourcePage{}, says()
}

func (gossip) Read(context.Context, string, string, []string) ([]State, error) {
	return []State{{Reason: "because of " + told}}, says()
}

func (gossip) Act(context.Context, Verb, string, string, []Target) []Result {
	return []Result{{Err: says()}, {}}
}

func (gossip) Permissions(context.Context) ([]Permission, error) {
	return []Permission{{Message: told}}, says()
}

func (gossip) Cluster(context.Context, string, string) (Cluster, error) { return Cluster{}, says() }

func (gossip) Organisation(context.Context) (string, error)    { return "", says() }
func (gossip) Members(context.Context, bool) ([]Member, error) { return nil, says() }

func TestDiscreet(t *testing.T) {
	ctx := t.Context()
	c, err := ConnectRedacted(ctx, gossip{},
		Account{Credentials: map[string]string{"secretAccessKey": told, "accessKeyID": "you sent", "size": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	_, identify := c.Identify(ctx)
	_, regions := c.Regions(ctx)
	_, list := c.List(ctx, "", "", "")
	states, read := c.Read(ctx, "", "", nil)
	results := c.Act(ctx, Start, "", "", nil)
	permissions, probe := c.Permissions(ctx)
	_, names := c.(Clusters).ClusterNames(ctx, "")
	_, cluster := c.(Clusters).Cluster(ctx, "", "")
	_, organisation := c.(Organisations).Organisation(ctx)
	_, members := c.(Organisations).Members(ctx, true)
	for i, err := range []error{
		organisation, members, identify, regions, list, read, results[0].Err,
		c.Scale(ctx, "", "", "", Capacity{}), probe, names, cluster,
	} {
		if err == nil || err.Error() != "x:Y: No (secret): you sent (secret)" || !errors.Is(err, context.Canceled) ||
			ClassOf(err) != Refused {
			t.Errorf("call %d says %v", i, err)
		}
	}
	if results[1].Err != nil {
		t.Errorf("a success fails: %v", results[1].Err)
	}
	if strings.Contains(states[0].Reason+permissions[0].Message, told) {
		t.Errorf("a reason or message tells the secret: %+v %+v", states, permissions)
	}
}

// plain is a cloud without optional interfaces.
type plain struct{ Conn }

type plainCloud struct{ Provider }

func (plainCloud) Connect(context.Context, Account) (Conn, error) { return plain{}, nil }

func TestDiscreet_CanBeAskedWhatTheCloudCan(t *testing.T) {
	c, err := ConnectRedacted(t.Context(), plainCloud{}, Account{})
	if err != nil {
		t.Fatal(err)
	}
	_, clusters := c.(Clusters)
	_, organisations := c.(Organisations)
	if clusters || organisations {
		t.Error("a cloud without clusters and organizations seems to have some")
	}
}
