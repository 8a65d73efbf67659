package main

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"lamplighter.dev/shared/api/client"
)

const (
	// maxSearched is how many records are read to find a name in a list that cannot be searched.
	maxSearched = 2000
	// maxListed is how many records an error lists.
	maxListed = 20
)

// findNamed returns the records with the id or name. Names are compared without regard to case.
func findNamed(ctx context.Context, to *client.Client, k kind, name string) ([]record, error) {
	if k.isID(name) && k.one != "" {
		one, err := fetch(ctx, to, client.Path(k.one, name))
		if client.IsStatus(err, http.StatusNotFound) {
			return nil, fail(exitNotFound, "there is no %s %q, or you may not see it: lamp get %s lists them",
				k.singular(), name, k.name)
		}
		return []record{one}, err
	}
	found, similar, err := searchNamed(ctx, to, k, name)
	if err != nil || len(found) > 0 {
		return found, err
	}
	if len(similar) > 0 {
		return nil, fail(exitNotFound, "there is no %s %q; similar ones are %s", k.singular(), name,
			strings.Join(similar, ", "))
	}
	return nil, fail(exitNotFound, "there is no %s %q, or you may not see it: lamp get %s lists them", k.singular(),
		name, k.name)
}

// searchNamed returns the records with the id or name, and the names of up to maxListed others that contain it.
func searchNamed(ctx context.Context, to *client.Client, k kind, name string) (
	found []record, similar []string, err error,
) {
	query := url.Values{}
	if k.search {
		query.Set("search", name)
	}
	for r, err := range records(ctx, to, k, query, maxSearched) {
		if err != nil {
			return nil, nil, err
		}
		switch own := r.text(k.nameMember()); {
		case strings.EqualFold(own, name) || r.text("id") == name || r.text("uid") == name:
			found = append(found, r)
		case len(similar) < maxListed && strings.Contains(strings.ToLower(own), strings.ToLower(name)):
			similar = append(similar, own)
		}
	}
	return found, similar, nil
}

// resolve returns the only record with the id or name. If several share the name, the error lists them with their ids.
func resolve(ctx context.Context, to *client.Client, k kind, name string) (record, error) {
	found, err := findNamed(ctx, to, k, name)
	if err != nil {
		return record{}, err
	}
	if len(found) == 1 {
		return found[0], nil
	}
	var lines strings.Builder
	for _, r := range found[:min(len(found), maxListed)] {
		lines.WriteString("\n  " + cleanLine(strings.Join([]string{
			r.text("id"), r.text(k.nameMember()), r.text("type"), r.text("region"), r.text("cloudAccountName"),
		}, "  ")))
	}
	return record{}, misused("%d %s are named %q: give one of the ids%s", len(found), k.name, name, lines.String())
}
