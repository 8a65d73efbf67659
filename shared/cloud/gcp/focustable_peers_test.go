package gcp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/clouds/bigqueryengine"
)

const focusExport = "gcp_billing_export_focus_01AB"

func decimal(name string) bigqueryengine.Column {
	return bigqueryengine.Column{Name: name, Type: "NUMERIC"}
}

// focusSchema is the schema of Google's export in the columns of FOCUS 1.2, a preview, as INFORMATION_SCHEMA of a live
// table has it. Columns that no query can name are left out.
var focusSchema = []bigqueryengine.Column{
	text("AvailabilityZone"), decimal("BilledCost"), text("BillingAccountId"), text("BillingCurrency"),
	instant("BillingPeriodStart"), instant("BillingPeriodEnd"), text("ChargeCategory"), text("ChargeClass"),
	text("ChargeDescription"), instant("ChargePeriodStart"), instant("ChargePeriodEnd"), decimal("ConsumedQuantity"),
	text("ConsumedUnit"), decimal("ContractedCost"), decimal("ListCost"), text("PricingCategory"),
	decimal("PricingQuantity"), text("PricingUnit"), text("ProviderName"), text("PublisherName"), text("RegionId"),
	text("RegionName"), text("ResourceId"), text("ResourceName"), text("ServiceName"), text("SkuId"),
	text("SubAccountId"), text("SubAccountName"),
	repeated("x_Credits", text("Name"), decimal("Amount"), text("FullName"), text("Id"), text("Type")),
	text("x_CostType"), float("x_CurrencyConversionRate"), instant("x_ExportTime"), text("x_Location"),
	repeated("x_Labels", text("Key"), text("Value")),
	repeated("x_Tags", text("Key"), text("Value"), bigqueryengine.Column{Name: "x_Inherited", Type: "BOOLEAN"},
		text("x_Namespace")),
	decimal("EffectiveCost"), text("PricingCurrency"), instant("_PARTITIONTIME"),
}

// keyed is an object of JSON.
type keyed = map[string]any

// asFOCUS returns the row of a detailed export in the columns of FOCUS, by the query that Google publishes: the billed
// and the effective cost contain the credits.
func asFOCUS(row bigqueryengine.Row) bigqueryengine.Row {
	net := money.MustParse(fmt.Sprint(row["cost"]))
	for _, c := range row["credits"].([]any) {
		net = net.Add(money.MustParse(fmt.Sprint(c.(keyed)["amount"])))
	}
	month, _ := time.Parse("200601", row["invoice"].(keyed)["month"].(string))
	category := map[string]string{"regular": "Usage", "tax": "Tax"}[row["cost_type"].(string)]
	if category == "" {
		category = "Adjustment"
	}
	return bigqueryengine.Row{
		"BillingAccountId": row["billing_account_id"], "BillingCurrency": row["currency"],
		"BillingPeriodStart": month.Add(8 * time.Hour).Format(time.RFC3339), // midnight in California
		"ChargeCategory":     category, "ChargeDescription": row["sku"].(keyed)["description"],
		"ChargePeriodStart": row["usage_start_time"], "ChargePeriodEnd": row["usage_end_time"],
		"BilledCost": net.String(), "EffectiveCost": net.String(), "ContractedCost": row["cost"],
		"ListCost": row["cost_at_list"], "PricingQuantity": row["usage"].(keyed)["amount_in_pricing_units"],
		"PricingUnit": row["usage"].(keyed)["pricing_unit"], "PricingCategory": "Standard",
		"PublisherName": row["seller_name"], "RegionId": row["location"].(keyed)["region"],
		"ResourceId": row["resource"].(keyed)["global_name"], "ResourceName": row["resource"].(keyed)["name"],
		"ServiceName": row["service"].(keyed)["description"], "SkuId": row["sku"].(keyed)["id"],
		"SubAccountId": row["project"].(keyed)["id"], "SubAccountName": row["project"].(keyed)["name"],
		"x_CurrencyConversionRate": row["currency_conversion_rate"], "x_ExportTime": row["export_time"],
		"x_Labels": renamed(row["labels"]), "x_Tags": renamed(row["tags"]), "_PARTITIONTIME": row["_PARTITIONTIME"],
	}
}

// renamed returns labels or tags with the names of fields that the export has in the columns of FOCUS.
func renamed(list any) (out []keyed) {
	for _, l := range list.([]any) {
		l := l.(keyed)
		out = append(out, keyed{
			"Key": l["key"], "Value": l["value"], "x_Inherited": l["inherited"], "x_Namespace": l["namespace"],
		})
	}
	return out
}

// readFOCUS reads the rows as a file in the columns of FOCUS. Its Tags are the labels and tags of the row.
func readFOCUS(t *testing.T, rows []bigqueryengine.Row) (out []bill.Charge) {
	t.Helper()
	var text bytes.Buffer
	for _, row := range rows {
		var tags []keyed
		for _, l := range append(row["x_Labels"].([]keyed), row["x_Tags"].([]keyed)...) {
			tags = append(tags, keyed{"key": l["Key"], "value": l["Value"], "namespace": l["x_Namespace"]})
		}
		month := strings.Replace(row["BillingPeriodStart"].(string), "T08", "T00", 1)
		line := keyed{"ProviderName": "Google Cloud", "InvoiceIssuerName": "Google Cloud", "Tags": tags}
		maps.Copy(line, row)
		line["BillingPeriodStart"] = month
		if err := json.NewEncoder(&text).Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	_, err := billfile.Read(t.Context(), cloud.FOCUSForm, "focus", inMemory{bytes.NewReader(text.Bytes())},
		collect(&out))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFocusQuery_OnAnEngineAnswersWhatTheReaderReads(t *testing.T) {
	e, sample := bigqueryengine.Start(t), sampleExport(t)
	var rows []bigqueryengine.Row
	for _, row := range sample.rows {
		rows = append(rows, asFOCUS(row))
	}
	sameLines(t, readQueried(t, engineTwin(e, focusExport, focusSchema, rows)), readFOCUS(t, rows))
	// A table in columns of FOCUS alone has no labels, and no rate.
	plain := without(focusSchema, "x_Labels", "x_Tags", "x_CurrencyConversionRate", "x_ExportTime", "PublisherName")
	for _, row := range rows {
		delete(row, "x_CurrencyConversionRate")
		delete(row, "PublisherName")
		row["x_Labels"], row["x_Tags"] = []keyed{}, []keyed{}
	}
	sameLines(t, readQueried(t, engineTwin(e, focusExport, plain, rows)), readFOCUS(t, rows))
}
