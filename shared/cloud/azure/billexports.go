package azure

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// billExport is an export, as Cost Management or the account's settings have it.
type billExport struct {
	name, account, container, folder string
	form                             cloud.BillForm // "" when the manifests tell
	notice                           string         // Azure's description of its problem
	named                            bool           // by the account's settings
}

// exportRow is an export as Cost Management describes it.
type exportRow struct {
	Name       string `json:"name"`
	Properties struct {
		Definition struct {
			Type string `json:"type"`
		} `json:"definition"`
		DeliveryInfo struct {
			Destination struct {
				ResourceID string `json:"resourceId"`
				Container  string `json:"container"`
				Folder     string `json:"rootFolderPath"`
			} `json:"destination"`
		} `json:"deliveryInfo"`
		History struct {
			Runs []struct {
				Properties struct {
					Status string `json:"status"`
					Error  struct {
						Code    string `json:"code"`
						Message string `json:"message"`
					} `json:"error"`
				} `json:"properties"`
			} `json:"value"`
		} `json:"runHistory"`
	} `json:"properties"`
}

// newExport makes an export of Cost Management's description; false if it does not export costs.
func (r exportRow) newExport() (billExport, bool) {
	to := r.Properties.DeliveryInfo.Destination
	form, isBill := forms[r.Properties.Definition.Type]
	e := billExport{
		name: r.Name, account: to.ResourceID[strings.LastIndex(to.ResourceID, "/")+1:], container: to.Container,
		folder: to.Folder, form: form,
	}
	if len(r.Properties.History.Runs) > 0 {
		if last := r.Properties.History.Runs[0].Properties; last.Status == "Failed" || last.Status == "Timeout" {
			e.notice = fmt.Sprintf("the last run of the export %s is %s: %s", r.Name, last.Status,
				cmp.Or(last.Error.Message, last.Error.Code, "Azure gives no reason"))
		}
	}
	return e, isBill
}

// findExports lists the exports of the subscription, or the one that was named.
func (c *conn) findExports(ctx context.Context) ([]billExport, error) {
	set := c.account.Billing
	if set.StorageAccount != "" {
		return []billExport{{
			name: set.Export, account: set.StorageAccount, container: set.Container,
			folder: set.Prefix, named: true,
		}}, nil
	}
	id, err := c.subscriptionID(ctx)
	if err != nil {
		return nil, err
	}
	var got struct {
		Value []exportRow `json:"value"`
	}
	k := call{
		method: http.MethodGet, path: subscriptionsPath + "/" + id + costsPath + "/exports",
		version: costsVersion, query: url.Values{"$expand": {"runHistory"}},
	}
	if err := c.client.callARM(ctx, k, &got); err != nil {
		return nil, err
	}
	var out []billExport
	for _, r := range got.Value {
		if e, isBill := r.newExport(); isBill && (set.Export == "" || strings.EqualFold(set.Export, e.name)) {
			out = append(out, e)
		}
	}
	return out, nil
}

// ControlTotal asks Cost Management for the cost of a month. It covers the whole subscription, so ok is false for an
// account with a named export or storage account, which may cover more or less. ok is also false without the
// permission, and for a month with several currencies.
func (c *conn) ControlTotal(ctx context.Context, period time.Time) (total, currency string, ok bool, err error) {
	if set := c.account.Billing; set.StorageAccount != "" || set.Export != "" {
		return "", "", false, nil
	}
	id, err := c.subscriptionID(ctx)
	if err != nil {
		return "", "", false, err
	}
	var got struct {
		Properties struct {
			Columns []struct {
				Name string `json:"name"`
			} `json:"columns"`
			Rows [][]json.RawMessage `json:"rows"`
		} `json:"properties"`
	}
	k := call{
		method: http.MethodPost, path: subscriptionsPath + "/" + id + costsPath + "/query", version: costsVersion,
		body: totalOf(period),
	}
	err = c.client.callARM(ctx, k, &got)
	if e, is := errors.AsType[*cloud.Error](err); is && e.Class == cloud.Denied {
		return "", "", false, nil
	}
	if err != nil || len(got.Properties.Rows) != 1 {
		return "", "", false, err
	}
	row := map[string]string{}
	for i, column := range got.Properties.Columns {
		if i < len(got.Properties.Rows[0]) {
			row[column.Name] = strings.Trim(string(got.Properties.Rows[0][i]), `"`)
		}
	}
	return row["Cost"], row["Currency"], row["Cost"] != "" && row["Currency"] != "", nil
}

// totalOf asks for the sum of a month, its last second included.
func totalOf(period time.Time) map[string]any {
	end := period.AddDate(0, 1, 0).Add(-time.Second)
	return map[string]any{
		"type": "ActualCost", "timeframe": "Custom",
		"timePeriod": map[string]string{"from": period.Format(time.RFC3339), "to": end.Format(time.RFC3339)},
		"dataset": map[string]any{
			"granularity": "None",
			"aggregation": map[string]any{"totalCost": map[string]string{"name": "Cost", "function": "Sum"}},
		},
	}
}
