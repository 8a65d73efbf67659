package cloud

import (
	"context"
	"errors"
	"strings"
	"time"
)

// secrets replaces the secret values of an account's credentials in texts.
type secrets struct{ *strings.Replacer }

// public are the credential fields that are not secret. Errors show them, because they help to understand the cloud's
// messages.
var public = map[string]bool{
	"accessKeyID": true, "roleArn": true, "externalID": true, "tenantID": true, "clientID": true,
	"projectID": true, "workloadIdentityProvider": true, "serviceAccountEmail": true,
}

// shortest is the minimum length of a value that is replaced. Credentials are at least this long; settings such as
// "true" are shorter.
const shortest = 8

// simulated is the provider whose credentials are settings, and no secrets.
const simulated = "simulated"

func secretsOf(a Account) secrets {
	var pairs []string
	for name, value := range a.Credentials {
		if a.Provider != simulated && !public[name] && len(value) >= shortest {
			pairs = append(pairs, value, "(secret)")
		}
	}
	return secrets{strings.NewReplacer(pairs...)}
}

// hide returns err with the secrets removed from its texts.
func (s secrets) hide(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	clean := *e
	clean.Message, clean.Code = s.Replace(e.Message), s.Replace(e.Code)
	if clean.Message == e.Message && clean.Code == e.Code {
		return err
	}
	return &clean
}

// ConnectRedacted connects to a through p and removes the secrets of the account's credentials from all errors and
// texts. An endpoint that an account names may echo its requests, and its words go into answers, records and logs.
func ConnectRedacted(ctx context.Context, p Provider, a Account) (Conn, error) {
	s := secretsOf(a)
	c, err := p.Connect(ctx, a)
	if err != nil {
		return nil, s.hide(err)
	}
	clusters, hasClusters := c.(Clusters)
	organisations, hasOrganisations := c.(Organisations)
	d, dc, do := discreet{c, s}, discreetClusters{clusters, s}, discreetOrganisations{organisations, s}
	switch {
	case hasClusters && hasOrganisations:
		return struct {
			discreet
			discreetClusters
			discreetOrganisations
		}{d, dc, do}, nil
	case hasClusters:
		return struct {
			discreet
			discreetClusters
		}{d, dc}, nil
	case hasOrganisations:
		return struct {
			discreet
			discreetOrganisations
		}{d, do}, nil
	}
	return d, nil
}

type discreet struct {
	conn Conn
	s    secrets
}

// Identify returns the Conn's.
func (d discreet) Identify(ctx context.Context) (string, error) {
	id, err := d.conn.Identify(ctx)
	return id, d.s.hide(err)
}

// Regions returns the Conn's.
func (d discreet) Regions(ctx context.Context) ([]string, error) {
	regions, err := d.conn.Regions(ctx)
	return regions, d.s.hide(err)
}

// List returns the Conn's.
func (d discreet) List(ctx context.Context, kind, region, page string) (ResourcePage, error) {
	p, err := d.conn.List(ctx, kind, region, page)
	return p, d.s.hide(err)
}

// Read returns the Conn's.
func (d discreet) Read(ctx context.Context, kind, region string, uids []string) ([]State, error) {
	states, err := d.conn.Read(ctx, kind, region, uids)
	for i := range states {
		states[i].Reason = d.s.Replace(states[i].Reason)
		for j := range states[i].Steps {
			states[i].Steps[j].Message = d.s.Replace(states[i].Steps[j].Message)
		}
	}
	return states, d.s.hide(err)
}

// Act returns the Conn's.
func (d discreet) Act(ctx context.Context, verb Verb, kind, region string, targets []Target) []Result {
	results := d.conn.Act(ctx, verb, kind, region, targets)
	for i := range results {
		results[i].Err = d.s.hide(results[i].Err)
		results[i].LeftOff = d.s.Replace(results[i].LeftOff)
	}
	return results
}

// Admit returns the Conn's answer. A Conn that does not admit accepts all resources.
func (d discreet) Admit(ctx context.Context, verb Verb, kind, region string, n int) (now int, later time.Duration) {
	if a, ok := d.conn.(Admitter); ok {
		return a.Admit(ctx, verb, kind, region, n)
	}
	return n, 0
}

// Verify returns the Conn's Verify; a Conn without one reads.
func (d discreet) Verify(ctx context.Context, kind, region string, uids []string) ([]State, error) {
	v, ok := d.conn.(Verifier)
	if !ok {
		return d.Read(ctx, kind, region, uids)
	}
	states, err := v.Verify(ctx, kind, region, uids)
	for i := range states {
		states[i].Reason = d.s.Replace(states[i].Reason)
	}
	return states, d.s.hide(err)
}

// Scale returns the Conn's.
func (d discreet) Scale(ctx context.Context, kind, region, uid string, c Capacity) error {
	return d.s.hide(d.conn.Scale(ctx, kind, region, uid, c))
}

// Permissions returns the Conn's.
func (d discreet) Permissions(ctx context.Context) ([]Permission, error) {
	all, err := d.conn.Permissions(ctx)
	for i := range all {
		all[i].Message = d.s.Replace(all[i].Message)
	}
	return all, d.s.hide(err)
}

// KindPermissions returns the Conn's; class Unsupported when the Conn probes no single kind.
func (d discreet) KindPermissions(ctx context.Context, kind, region, uid string) ([]Permission, error) {
	p, ok := d.conn.(KindProber)
	if !ok {
		return nil, &Error{Class: Unsupported, Message: "this provider is not asked for the permissions of one kind"}
	}
	all, err := p.KindPermissions(ctx, kind, region, uid)
	for i := range all {
		all[i].Message = d.s.Replace(all[i].Message)
	}
	return all, d.s.hide(err)
}

type discreetClusters struct {
	clusters Clusters
	hidden   secrets
}

// ClusterNames returns the Conn's.
func (d discreetClusters) ClusterNames(ctx context.Context, region string) ([]string, error) {
	names, err := d.clusters.ClusterNames(ctx, region)
	return names, d.hidden.hide(err)
}

// Cluster returns the Conn's.
func (d discreetClusters) Cluster(ctx context.Context, region, name string) (Cluster, error) {
	c, err := d.clusters.Cluster(ctx, region, name)
	return c, d.hidden.hide(err)
}

type discreetOrganisations struct {
	organisations Organisations
	hidden        secrets
}

// Organisation returns the Conn's.
func (d discreetOrganisations) Organisation(ctx context.Context) (string, error) {
	id, err := d.organisations.Organisation(ctx)
	return id, d.hidden.hide(err)
}

// Members returns the Conn's.
func (d discreetOrganisations) Members(ctx context.Context, tags bool) ([]Member, error) {
	all, err := d.organisations.Members(ctx, tags)
	return all, d.hidden.hide(err)
}

// EnterCluster returns the Conn's entry. A provider that lists clusters and cannot open them is class Unsupported.
func (d discreetClusters) EnterCluster(ctx context.Context, region, name string) (ClusterEntry, error) {
	access, ok := d.clusters.(ClusterAccess)
	if !ok {
		return ClusterEntry{},
			&Error{
				Class:   Unsupported,
				Message: "the clusters of this account cannot be entered with its credentials: hand a kubeconfig over",
			}
	}
	e, err := access.EnterCluster(ctx, region, name)
	if token := e.Token; token != nil {
		e.Token = func(ctx context.Context) (string, error) {
			t, err := token(ctx)
			return t, d.hidden.hide(err)
		}
	}
	return e, d.hidden.hide(err)
}

var (
	_ Conn          = discreet{}
	_ Admitter      = discreet{}
	_ Verifier      = discreet{}
	_ Clusters      = discreetClusters{}
	_ ClusterAccess = discreetClusters{}
	_ Organisations = discreetOrganisations{}
)
