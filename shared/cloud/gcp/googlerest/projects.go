package googlerest

import "encoding/json"

// Project is a project. Its name is "projects/" with its number.
type Project struct {
	DisplayName string            `json:"displayName"`
	Labels      map[string]string `json:"labels"`
	Name        string            `json:"name"`
	ProjectID   string            `json:"projectId"`
	State       string            `json:"state"`
}

// ProjectList is a page of projects.
type ProjectList struct {
	NextPageToken string     `json:"nextPageToken"`
	Projects      []*Project `json:"projects"`
}

// Folder is a folder or an organization.
type Folder struct {
	DisplayName string `json:"displayName"`
	Name        string `json:"name"`
}

// FolderList is a page of folders.
type FolderList struct {
	Folders       []*Folder `json:"folders"`
	NextPageToken string    `json:"nextPageToken"`
}

// IAMPermissions are permissions: those that are asked about, and in the answer those that the caller has.
type IAMPermissions struct {
	Permissions []string `json:"permissions,omitempty"`
}

// Asset is a resource as Cloud Asset Inventory finds it. A versioned resource is the resource as its own API returns
// it.
type Asset struct {
	AssetType              string            `json:"assetType"`
	CreateTime             string            `json:"createTime"`
	DisplayName            string            `json:"displayName"`
	Labels                 map[string]string `json:"labels"`
	Location               string            `json:"location"`
	Name                   string            `json:"name"`
	ParentFullResourceName string            `json:"parentFullResourceName"`
	VersionedResources     []struct {
		Resource json.RawMessage `json:"resource"`
	} `json:"versionedResources"`
}

// PolicyResult is a resource whose policy a search has found.
type PolicyResult struct {
	Resource  string `json:"resource"`
	AssetType string `json:"assetType"`
}

// PolicyResultList is a page of a search of policies.
type PolicyResultList struct {
	NextPageToken string          `json:"nextPageToken"`
	Results       []*PolicyResult `json:"results"`
}

// AssetList is a page of assets.
type AssetList struct {
	NextPageToken string   `json:"nextPageToken"`
	Results       []*Asset `json:"results"`
}
