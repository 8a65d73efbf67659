package onboarding

import (
	"encoding/json"
	"fmt"
	"slices"
)

// BillAccess is what lets the bills of an account be read, besides what a level allows.
type BillAccess struct {
	Actions  []string        `json:"actions" doc:"What the credentials of the account have to be allowed besides"`
	Document json.RawMessage `json:"document" doc:"These, as the cloud takes them"`
	Commands []string        `json:"commands" doc:"Shell commands, in order, after those of a method. What is in capitals is yours to put in"`
}

// newBillAccess makes the access of a document.
func newBillAccess(actions []string, document any, commands func(doc string) []string) (*BillAccess, error) {
	doc, err := encodeIndented(document)
	if err != nil {
		return nil, fmt.Errorf("write what reads bills: %w", err)
	}
	return &BillAccess{Actions: actions, Document: doc, Commands: commands(string(doc))}, nil
}

// awsBilling allows exports and reports to be found, and objects to be read in the one bucket alone that they are delivered into.
func awsBilling() (*BillAccess, error) {
	needs := requiredBy("aws").Billing
	var anywhere, buckets, objects []string
	for _, a := range needs {
		switch a {
		case "s3:ListBucket":
			buckets = append(buckets, a)
		case "s3:GetObject":
			objects = append(objects, a)
		default:
			anywhere = append(anywhere, a)
		}
	}
	list, read := allow("LamplighterListBills", buckets...), allow("LamplighterReadBills", objects...)
	list.Resource, read.Resource = "arn:aws:s3:::BUCKET", "arn:aws:s3:::BUCKET/PREFIX/*"
	doc := document{Version: "2012-10-17",
		Statement: []statement{allow("LamplighterFindBills", anywhere...), list, read}}
	return newBillAccess(needs, doc, func(doc string) []string {
		return []string{
			"# console of Billing and Cost Management, Data Exports, Create: FOCUS 1.2 or CUR 2.0 with resource ids, " +
				"Parquet or gzip, create new file on each delivery, into s3://BUCKET/PREFIX",
			"aws iam put-role-policy --role-name " + RoleName +
				" --policy-name lamplighter-billing --policy-document " + quote(doc),
		}
	})
}

// azureBilling allows exports to be found and costs to be asked for in the subscription, and blobs to be read in the one storage account
// alone that they are delivered into.
func azureBilling() (*BillAccess, error) {
	r := requiredBy("azure")
	name := azureRoleName("billing")
	role := azureRole{
		Name: name, IsCustom: true, Description: "What Lamplighter calls to find the bills of a subscription",
		Actions: r.Billing, NotActions: []string{},
		AssignableScopes: []string{azureScope},
	}
	export := `{"properties":{"schedule":{"status":"Active","recurrence":"Daily","recurrencePeriod":{"from":"FROM","to":"TO"}},"format":"Csv","compressionMode":"gzip",` +
		`"partitionData":true,"dataOverwriteBehavior":"CreateNewReport","deliveryInfo":{"destination":{"type":"AzureBlob","resourceId":"STORAGE_ACCOUNT_ID",` +
		`"container":"CONTAINER","rootFolderPath":"lamplighter"}},"definition":{"type":"FocusCost","timeframe":"MonthToDate","dataSet":{"granularity":"Daily",` +
		`"configuration":{"dataVersion":"1.0"}}}}}`
	return newBillAccess(slices.Concat(r.Billing, r.BillingData), role, func(doc string) []string {
		return []string{
			"az rest --method put --url 'https://management.azure.com" + azureScope +
				"/providers/Microsoft.CostManagement/exports/lamplighter?api-version=2025-03-01' --body " +
				quote(export),
			"# console of Cost Management, Exports, lamplighter, Export selected dates: once for each of the " +
				"months before",
			"az role definition create --role-definition " + quote(doc),
			"az role assignment create --assignee APP_ID --role " + quote(name) + " --scope " + azureScope,
			"az role assignment create --assignee APP_ID --role 'Storage Blob Data Reader' --scope STORAGE_ACCOUNT_ID",
		}
	})
}

// googleBilling allows questions to be asked in the project, and tables to be read in the one dataset alone that holds the export.
func googleBilling() (*BillAccess, error) {
	needs := requiredBy("gcp").Billing
	role := googleRole{"Lamplighter billing", "What Lamplighter calls to read the billing export", "GA", needs}
	return newBillAccess(needs, role, func(string) []string {
		return []string{
			"# console of Billing, Billing export, BigQuery export: the detailed usage cost, into a dataset of the " +
				"multi-region US or EU",
			"gcloud services enable --project=PROJECT bigquery.googleapis.com",
			"gcloud iam roles update lamplighter --project=PROJECT --add-permissions=bigquery.jobs.create",
			"bq query --project_id=DATASET_PROJECT --use_legacy_sql=false " +
				quote("GRANT `roles/bigquery.dataViewer` ON SCHEMA `DATASET_PROJECT.DATASET` TO \"serviceAccount:"+
					robotOf+"\""),
		}
	})
}
