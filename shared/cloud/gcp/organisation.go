package gcp

import (
	"context"
	"regexp"
	"sync"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// organisationNeeds are the additional permissions to list the projects of an organization, or of a folder, in a role
// that is granted there.
var organisationNeeds = []string{
	"resourcemanager.folders.get", "resourcemanager.folders.list", "resourcemanager.organizations.get",
	"resourcemanager.projects.list",
}

const (
	// maxUnits bounds a walk through folders that would not end.
	maxUnits = 10_000
	// projectPage is the number of projects or folders in a page.
	projectPage = 300
)

// deleteRequested is the state of a project that is being deleted. One in any other state, or without one, is open.
const deleteRequested = "DELETE_REQUESTED"

// parentName is an organization or a folder, as Google names it.
var parentName = regexp.MustCompile(`^(organizations|folders)/\d{1,19}$`)

var _ cloud.Organisations = (*conn)(nil)

// Organisation returns the name of the organization or folder ("organizations/1", "folders/2"). It fails unless the
// credentials may read it and list its projects.
func (c *conn) Organisation(ctx context.Context) (string, error) {
	if c.account.AuthMethod == "workload_identity_federation" && c.account.EndpointURL == "" {
		if err := c.demandAudience(ctx); err != nil {
			return "", err
		}
	}
	root, err := c.readRoot(ctx)
	if err != nil {
		return "", err
	}
	// an account that may see the organization may be unable to list it
	if _, err = c.listProjects(ctx, root, 1); err != nil {
		return "", err
	}
	return root.ID, nil
}

// readRoot reads the organization or folder of the connection.
func (c *conn) readRoot(ctx context.Context) (cloud.Unit, error) {
	name := c.account.Organisation
	kind := parentName.FindStringSubmatch(name)
	if kind == nil {
		return cloud.Unit{},
			cloud.ErrInvalid(`%.100q is neither "organizations/" nor "folders/" with the number of one`, name)
	}
	f, err := call[googlerest.Folder](ctx, c.session,
		googlerest.NewGet("resourcemanager."+kind[1]+".get", googlerest.ResourceManager+"{+name}", name))
	if err != nil {
		return cloud.Unit{}, err
	}
	return cloud.Unit{ID: f.Name, Name: f.DisplayName}, nil
}

// Members walks through the folders, one depth after the other, with the folders of a depth in parallel. It lists each
// folder, because a search leaves out projects that the credentials cannot open and is late with new ones. Labels come
// with the projects. The credentials of the connection open all projects.
func (c *conn) Members(ctx context.Context, _ bool) ([]cloud.Member, error) {
	root, err := c.readRoot(ctx)
	if err != nil {
		return nil, err
	}
	w := projectWalk{conn: c}
	for level := [][]cloud.Unit{{root}}; len(level) > 0; {
		if w.units += len(level); w.units > maxUnits {
			return nil, cloud.ErrUnsupported("there are more than %d folders", maxUnits)
		}
		if level, err = w.walkLevel(ctx, level); err != nil {
			return nil, err
		}
		if err = checkMembers(len(w.found)); err != nil {
			return nil, err
		}
	}
	return w.found, nil
}

// projectWalk goes through an organization, depth by depth.
type projectWalk struct {
	*conn
	units int

	mu    sync.Mutex
	found []cloud.Member
	inner [][]cloud.Unit
}

// walkLevel finds the projects in the first of each of the units, and gives the folders in them.
func (w *projectWalk) walkLevel(ctx context.Context, level [][]cloud.Unit) ([][]cloud.Unit, error) {
	w.inner = nil
	errs := make([]error, len(level))
	cloud.InParallel(len(level), parallelCalls, func(i int) { errs[i] = w.visitUnit(ctx, level[i]) })
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return w.inner, nil
}

func (w *projectWalk) visitUnit(ctx context.Context, units []cloud.Unit) error {
	projects, err := w.listProjects(ctx, units[0], 0)
	if err != nil {
		return err
	}
	folders, err := w.listFolders(ctx, units[0])
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range projects {
		m := cloud.Member{
			NativeID: p.ProjectID, Name: p.DisplayName, Units: units, Tags: p.Labels,
			Closed: p.State == deleteRequested,
		}
		w.found = append(w.found, m)
	}
	for _, f := range folders {
		w.inner = append(w.inner, append([]cloud.Unit{{ID: f.Name, Name: f.DisplayName}}, units...))
	}
	return nil
}

// listProjects lists the projects of a unit, those that are being deleted too: a page of so many, or for 0 all.
func (c *conn) listProjects(ctx context.Context, in cloud.Unit, most int64) ([]*googlerest.Project, error) {
	list := googlerest.NewGet("resourcemanager.projects.list", googlerest.ResourceManager+"projects").
		Set("parent", in.ID).Set("showDeleted", "true").SetInt("pageSize", projectPage)
	if most > 0 {
		out, err := call[googlerest.ProjectList](ctx, c.session, list.SetInt("pageSize", most))
		if err != nil {
			return nil, err
		}
		return out.Projects, nil
	}
	var all []*googlerest.Project
	err := eachPage(ctx, c.session, list, func(page *googlerest.ProjectList) (string, error) {
		all = append(all, page.Projects...)
		return page.NextPageToken, checkMembers(len(all))
	})
	return all, err
}

// checkMembers bounds a listing that would not end.
func checkMembers(projects int) error {
	if projects > cloud.MaxMembers {
		return cloud.ErrUnsupported("there are more than %d projects", cloud.MaxMembers)
	}
	return nil
}

func (c *conn) listFolders(ctx context.Context, in cloud.Unit) ([]*googlerest.Folder, error) {
	var all []*googlerest.Folder
	list := googlerest.NewGet("resourcemanager.folders.list", googlerest.ResourceManager+"folders").
		Set("parent", in.ID).SetInt("pageSize", projectPage)
	err := eachPage(ctx, c.session, list, func(page *googlerest.FolderList) (string, error) {
		if all = append(all, page.Folders...); len(all) > maxUnits {
			return "", cloud.ErrUnsupported("there are more than %d folders", maxUnits)
		}
		return page.NextPageToken, nil
	})
	return all, err
}
