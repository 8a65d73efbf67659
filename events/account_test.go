package events_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// The ids in the samples.
const (
	org     = "org_01k8z3v5y0e6m9x2q4t7r1c8bd"
	user    = "usr_01k8z3v5y0e6m9x2q4t7r1c8bd"
	action  = "act_01k8z3v5y0e6m9x2q4t7r1c8bd"
	account = "ca_01k8z3v5y0e6m9x2q4t7r1c8bd"
	session = "session"
)

// awsAccount answers the AWS calls that the samples cause: a DynamoDB table with fixed items, which accepts writes
// and drops them, and a signing key of KMS. It does not check conditions: the tests of shared/engine/table do that.
type awsAccount struct {
	t     testing.TB
	items map[table.Key]map[string]any
	key   *ecdsa.PrivateKey
}

// newAccount starts a server for the account and returns its address.
func newAccount(t testing.TB) string {
	t.Helper()
	srv := httptest.NewServer(newAWSAccount(t))
	t.Cleanup(srv.Close)
	return srv.URL
}

func newAWSAccount(t testing.TB) *awsAccount {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	a := &awsAccount{t: t, items: map[table.Key]map[string]any{}, key: key}
	a.fill()
	return a
}

// storeIndex copies the index of an organization's inventory from another store.
func (a *awsAccount) storeIndex(from table.Store, org string) {
	changes := a.copyPartition(from, org, table.OrgPK(org)+inventory.IndexPartition.Name())
	chunks, err := inventory.ChunkPartitions(org, changes)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, pk := range chunks {
		a.copyPartition(from, org, pk)
	}
}

func (a *awsAccount) copyPartition(from table.Store, org, pk string) []table.Item {
	page, err := from.Query(table.WithOrg(a.t.Context(), org), table.Query{PK: pk, Limit: table.MaxPage})
	if err != nil || page.Next != "" {
		a.t.Fatalf("%s has more than a page: %v", pk, err)
	}
	for _, it := range page.Items {
		a.store(it.Key, it.Data)
	}
	return page.Items
}

// fill stores the items that the samples read.
func (a *awsAccount) fill() {
	at, later := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC), time.Now().Add(time.Hour).Unix()
	owner := []grant.Grant{{Role: "owner", Scope: "org"}}
	a.store(identity.UserKey(user),
		identity.User{ID: user, Email: "ada@example.com", Name: "Ada", Verified: true, Created: at, Updated: at})
	a.store(identity.SessionKey(session), identity.Session{
		ID: session, User: user, Org: org, State: identity.SessionLive, Idle: later, Absolute: later, Created: at,
	})
	a.store(identity.MemberKey(org, user), identity.Member{User: user, Grants: owner, Joined: at})
	a.store(identity.MembershipKey(user, org), identity.Membership{Org: org, Joined: at})
	a.store(identity.OrganisationKey(org),
		identity.Organisation{ID: org, Name: "Engines", CreatedBy: user, CreatedAt: at, UpdatedAt: at})
	a.store(inventory.AccountKey(org, account), inventory.Account{
		ID: account, Provider: "aws", CloudAccountID: "123456789012", Name: "Production", AuthMethod: "assume_role",
		PermissionLevel: "read_only", Status: "connected", CreatedAt: at, UpdatedAt: at,
	})
	a.store(execution.ActionKey(org, action), execution.Action{
		ID: action, ResourceUID: "i-0abc", ResourceType: "aws-ec2", Provider: "aws", CloudAccountID: account,
		Region: "eu-west-1",
		Action: cloud.Stop, Reason: "manual", Status: execution.Succeeded, Attempts: 1,
		ChangedBy: "manual:ada@example.com",
		Logs:      []execution.Log{}, CreatedAt: at, StartedAt: at.Add(time.Second), CompletedAt: at.Add(time.Minute),
	})
}

func (a *awsAccount) store(k table.Key, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		a.t.Fatal(err)
	}
	var fields map[string]any
	if err = json.Unmarshal(b, &fields); err != nil {
		a.t.Fatal(err)
	}
	item := map[string]any{"pk": attribute(k.PK), "sk": attribute(k.SK)}
	for name, value := range fields {
		item[name] = attribute(value)
	}
	a.items[k] = item
}

// attribute returns a JSON value as DynamoDB's protocol writes it.
func attribute(v any) map[string]any {
	switch v := v.(type) {
	case string:
		return map[string]any{"S": v}
	case bool:
		return map[string]any{"BOOL": v}
	case float64:
		b, _ := json.Marshal(v)
		return map[string]any{"N": string(b)}
	case []any:
		l := make([]any, len(v))
		for i := range v {
			l[i] = attribute(v[i])
		}
		return map[string]any{"L": l}
	case map[string]any:
		m := map[string]any{}
		for name, value := range v {
			m[name] = attribute(value)
		}
		return map[string]any{"M": m}
	default:
		return map[string]any{"NULL": true}
	}
}

// call is the part of AWS requests that the account reads.
type call struct {
	Key          map[string]map[string]string
	RequestItems map[string]struct {
		Keys []map[string]map[string]string
	}
	Values      map[string]map[string]any `json:"ExpressionAttributeValues"`
	Condition   string                    `json:"KeyConditionExpression"`
	Message     []byte
	MessageType string
	SecretID    string `json:"SecretId"`
}

// ServeHTTP answers a call of the JSON protocol that DynamoDB, KMS and Secrets Manager share.
func (a *awsAccount) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/"+anchorsName) {
		answerBucket(w, r)
		return
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var c call
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
		a.t.Errorf("%s: %v", operation, err)
	}
	out, ok := a.answer(operation, c)
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	if !ok {
		a.t.Errorf("the account does not know %q", operation)
		w.WriteHeader(http.StatusBadRequest)
	}
	// the caller may have given up waiting, and will ask again
	if err := json.NewEncoder(w).Encode(out); err != nil && r.Context().Err() == nil {
		a.t.Error(err)
	}
}

// answerBucket answers for an empty bucket, which takes objects and drops them.
func answerBucket(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/xml")
		_, _ = io.WriteString(w, "<ListBucketResult></ListBucketResult>")
	}
}

func (a *awsAccount) answer(operation string, c call) (any, bool) {
	switch operation {
	case "GetItem":
		if it := a.items[keyOf(c.Key)]; it != nil {
			return map[string]any{"Item": it}, true
		}
		return map[string]any{}, true
	case "BatchGetItem":
		return a.batch(c), true
	case "Query":
		return a.query(c), true
	case "UpdateItem":
		return map[string]any{"Attributes": c.Key}, true
	case "PutItem", "DeleteItem", "TransactWriteItems":
		return map[string]any{}, true
	case "GetSecretValue":
		const text = "pepper of the samples, as long as it has to be"
		return map[string]any{"SecretString": text}, c.SecretID == pepperName
	case "GetPublicKey":
		der, err := x509.MarshalPKIXPublicKey(&a.key.PublicKey)
		return map[string]any{"PublicKey": der, "KeySpec": "ECC_NIST_P256", "KeyUsage": "SIGN_VERIFY"}, err == nil
	case "Sign":
		digest := c.Message
		if c.MessageType != "DIGEST" {
			sum := sha256.Sum256(c.Message)
			digest = sum[:]
		}
		sig, err := ecdsa.SignASN1(rand.Reader, a.key, digest)
		return map[string]any{"Signature": base64.StdEncoding.EncodeToString(sig)}, err == nil
	}
	return map[string]any{"__type": "UnknownOperationException"}, false
}

func keyOf(m map[string]map[string]string) table.Key {
	return table.Key{PK: m["pk"]["S"], SK: m["sk"]["S"]}
}

func (a *awsAccount) batch(c call) any {
	responses := map[string][]any{}
	for name, want := range c.RequestItems {
		responses[name] = []any{}
		for _, k := range want.Keys {
			if it := a.items[keyOf(k)]; it != nil {
				responses[name] = append(responses[name], it)
			}
		}
	}
	return map[string]any{"Responses": responses, "UnprocessedKeys": map[string]any{}}
}

// query returns the items of the partition in the expression's values. Other values are prefixes of sort keys, or
// their range.
func (a *awsAccount) query(c call) any {
	items := []any{}
	var values []string
	for _, v := range c.Values {
		if s, ok := v["S"].(string); ok {
			values = append(values, s)
		}
	}
	for k, it := range a.items {
		if slices.Contains(values, k.PK) && inRange(k, values, strings.Contains(c.Condition, "BETWEEN")) {
			items = append(items, it)
		}
	}
	return map[string]any{"Items": items, "Count": len(items), "ScannedCount": len(items)}
}

func inRange(k table.Key, values []string, between bool) bool {
	least, most := "", "\xff"
	for _, v := range values {
		switch {
		case v == k.PK:
		case between && least != "":
			least, most = min(least, v), max(least, v)
		case between:
			least = v
		case !strings.HasPrefix(k.SK, v):
			return false
		}
	}
	return least <= k.SK && k.SK <= most
}
