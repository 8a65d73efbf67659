package azure

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"

	"lamplighter.dev/shared/cloud"
)

// resource holds the fields that all resources of the resource manager have, in a row of the Resource Graph as in an
// answer of its own. The fields of its kind are in Properties.
type resource struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	Location   string            `json:"location"`
	Type       string            `json:"type"`
	Kind       string            `json:"kind"`
	ManagedBy  string            `json:"managedBy"`
	Tags       map[string]string `json:"tags"`
	Zones      []string          `json:"zones"`
	SKU        *sku              `json:"sku"`
	Properties json.RawMessage   `json:"properties"`
}

// sku is a size of Azure's.
type sku struct {
	Name     string `json:"name,omitempty"`
	Tier     string `json:"tier,omitempty"`
	Family   string `json:"family,omitempty"`
	Capacity *int64 `json:"capacity,omitempty"`
}

// uidOf is the id in lower case: Azure compares ids without case, and its services write them differently.
func uidOf(id string) string { return strings.ToLower(id) }

// regionOf is a location as the list of locations names it; some services answer "West Europe".
func regionOf(location string) string {
	return strings.ToLower(strings.ReplaceAll(location, " ", ""))
}

// isOf reports whether the uid names a resource of the type in the subscription.
func isOf(uid, subscription, armType string) bool {
	if strings.ContainsAny(uid, "?#%\\") {
		return false
	}
	id, err := arm.ParseResourceID(uid)
	return err == nil && strings.EqualFold(id.SubscriptionID, subscription) &&
		strings.EqualFold(id.ResourceType.String(), armType)
}

// facts are the values that a kind reads from a resource.
type facts struct {
	status        cloud.Status
	native        string
	reason        string
	noCapacity    bool
	unschedulable string
	instanceType  string
	capacity      map[string]int64
	created       time.Time
	snapshot      json.RawMessage
}

// decodeProperties decodes the fields of the kind.
func decodeProperties[T any](r resource) (T, error) {
	var p T
	if len(r.Properties) == 0 {
		return p, nil
	}
	if err := json.Unmarshal(r.Properties, &p); err != nil {
		return p, errUnreadable(r.ID, err)
	}
	return p, nil
}

// statusOf returns the status of Azure's word; Unknown for an unknown word.
func statusOf(words map[string]cloud.Status, word string) cloud.Status {
	if s, ok := words[strings.ToLower(word)]; ok {
		return s
	}
	return cloud.Unknown
}

// decodeEditable decodes a resource to be changed and put back; numbers stay as they were written.
func decodeEditable(raw json.RawMessage) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		return nil, errUnreadable("resource", err)
	}
	return m, nil
}

// partOf returns the object under the name, which is made when there is none.
func partOf(m map[string]any, name string) map[string]any {
	p, ok := m[name].(map[string]any)
	if !ok {
		p = map[string]any{}
		m[name] = p
	}
	return p
}
