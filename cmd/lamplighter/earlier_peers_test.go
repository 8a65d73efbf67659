package main

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"lamplighter.dev/shared/testkit/tabletest"
)

// TestVersions_WorkAtOnceOnOneTable runs the earlier version and this one on one table at the same time, as during a
// deployment. Each request may reach either version.
func TestVersions_WorkAtOnceOnOneTable(t *testing.T) {
	endpoint := tabletest.StartDynoxide(t)
	earlier, current := bothVersions(t)
	r := tabletest.NewTable(t, endpoint)
	t.Setenv("AWS_REGION", r.Region)
	t.Setenv("AWS_ACCESS_KEY_ID", r.KeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", r.Secret)
	args := []string{"-store", "dynamodb", "-endpoint", endpoint, "-table", r.Table, "-dir", t.TempDir()}
	programs := map[string]*served{earlier.name: earlier.serve(t, args...), current.name: current.serve(t, args...)}
	s := &shared{t: t, beside: []*served{programs[earlier.name], programs[current.name]}}
	for _, name := range []string{earlier.name, current.name, earlier.name} {
		s.takeTurn(name, programs[name])
	}
	s.createAtOnce(programs, 5)
	for name, p := range programs {
		s.enter(p)
		s.prove(name)
	}
	for _, p := range programs {
		p.shut(t)
	}
}

// createAtOnce has each of the programs create n teams, all at the same time.
func (s *shared) createAtOnce(programs map[string]*served, n int) {
	s.t.Helper()
	var all sync.WaitGroup
	for name, p := range programs {
		s.enter(p)
		c := s.client
		all.Go(func() {
			for i := range n {
				if err := c.Do(s.t.Context(), http.MethodPost, "/teams",
					map[string]any{"name": fmt.Sprint(name, " ", i)}, nil); err != nil {
					s.t.Error(err)
				}
			}
		})
	}
	all.Wait()
	var teams struct {
		Total int `json:"total"`
	}
	if s.call(http.MethodGet, "/teams", nil, &teams); teams.Total != 1+n*len(programs) {
		s.t.Errorf("%d teams, want %d", teams.Total, 1+n*len(programs))
	}
}
