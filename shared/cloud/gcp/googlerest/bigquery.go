package googlerest

// Dataset is a dataset of BigQuery. Location is the place where its queries run.
type Dataset struct {
	DatasetReference struct {
		DatasetID string `json:"datasetId"`
	} `json:"datasetReference"`
	Location string `json:"location"`
}

// DatasetList is a page of datasets.
type DatasetList struct {
	Datasets      []*Dataset `json:"datasets"`
	NextPageToken string     `json:"nextPageToken"`
}

// Table is a table of BigQuery. Lists leave its schema out.
type Table struct {
	Schema         *TableSchema `json:"schema"`
	TableReference struct {
		TableID string `json:"tableId"`
	} `json:"tableReference"`
}

// TableSchema is the columns of a table or of an answer.
type TableSchema struct {
	Fields []TableField `json:"fields"`
}

// TableField is a column, or a field of a record.
type TableField struct {
	Name   string       `json:"name"`
	Fields []TableField `json:"fields"` // of a record
}

// TableList is a page of tables.
type TableList struct {
	NextPageToken string   `json:"nextPageToken"`
	Tables        []*Table `json:"tables"`
}

// QueryRequest is the body of a request that begins a query.
type QueryRequest struct {
	Location           string `json:"location,omitempty"`
	MaxResults         int64  `json:"maxResults"`
	MaximumBytesBilled int64  `json:"maximumBytesBilled,string"`
	Query              string `json:"query"`
	RequestID          string `json:"requestId"`
	TimeoutMs          int64  `json:"timeoutMs"`
	UseLegacySQL       bool   `json:"useLegacySql"`
}

// QueryResponse is a page of the answer to a query; it has no rows before the query is complete.
type QueryResponse struct {
	JobComplete         bool         `json:"jobComplete"`
	JobReference        JobReference `json:"jobReference"`
	PageToken           string       `json:"pageToken"`
	Rows                []TableRow   `json:"rows"`
	Schema              *TableSchema `json:"schema"`
	TotalBytesProcessed int64        `json:"totalBytesProcessed,string"`
}

// JobReference names a query.
type JobReference struct {
	JobID     string `json:"jobId"`
	Location  string `json:"location"`
	ProjectID string `json:"projectId"`
}

// TableRow is a row of an answer: a text for each column, nil where the column is null.
type TableRow struct {
	Cells []struct {
		Value any `json:"v"`
	} `json:"f"`
}
