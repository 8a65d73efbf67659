package testenv

import (
	"maps"
	"net/http"
	"strconv"

	"lamplighter.dev/shared/cloud/simulated"
)

// Cloud is the credentials of a simulated account: its settings (see shared/cloud/simulated).
type Cloud map[string]string

// FastCloud returns a simulated cloud of size resources whose states take 50 ms at most, with bills of two months.
// Imports of bills take most of the processor time of a connected account.
func FastCloud(size int) Cloud {
	return Cloud{"size": strconv.Itoa(size), "transitionSeconds": "0.05"}.WithBills(2)
}

// WithBills returns the cloud with bills of a number of months, the current one included.
func (c Cloud) WithBills(months int) Cloud {
	return c.WithSetting("billedMonths", strconv.Itoa(months))
}

// WithoutBills returns the cloud without bills.
func (c Cloud) WithoutBills() Cloud { return c.WithSetting("bills", "none") }

// WithSetting returns the cloud with one more setting.
func (c Cloud) WithSetting(name, value string) Cloud {
	out := maps.Clone(c)
	out[name] = value
	return out
}

// ConnectAccount connects a simulated account under its native number, and waits until it is discovered. It returns
// the account's id.
func (c *Client) ConnectAccount(number string, cloud Cloud) string {
	c.t.Helper()
	var account struct {
		ID    string `json:"id"`
		JobID string `json:"jobID"`
	}
	c.Call(http.MethodPost, "/cloud-accounts", map[string]any{
		"provider": simulated.Name, "authMethod": simulated.AuthMethod, "cloudAccountID": number,
		"name":            "Cloud " + number,
		"permissionLevel": "read_write", "credentials": cloud,
	}, &account)
	c.WaitDiscovered(account.ID, account.JobID)
	return account.ID
}

// WaitDiscovered waits until the discovery has succeeded.
func (c *Client) WaitDiscovered(accountID, jobID string) {
	c.t.Helper()
	var job struct {
		Status string `json:"status"`
		Error  string `json:"error"`
	}
	c.env.WaitSettled()
	c.Call(http.MethodGet, "/cloud-accounts/"+accountID+"/discover/"+jobID, nil, &job)
	if job.Status != "succeeded" {
		c.t.Fatalf("discovery of %s: %s: %s", accountID, job.Status, job.Error)
	}
}
