package rest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/rest"
)

func TestPageOf_CutsThePage(t *testing.T) {
	all := []int{1, 2, 3, 4, 5}
	for name, c := range map[string]struct {
		page, limit int
		want        []int
	}{
		"the first":       {1, 2, []int{1, 2}},
		"the last, short": {3, 2, []int{5}},
		"behind the last": {4, 2, nil},
		"far behind":      {999_999, 100, nil},
		"all":             {1, 5, []int{1, 2, 3, 4, 5}},
	} {
		p := rest.Page{Page: c.page, Limit: c.limit}
		got := rest.PageOf(all, p)
		if !slices.Equal(got.Items, c.want) || got.Total != 5 || got.Page != c.page || got.Limit != c.limit {
			t.Errorf("%s: %+v, want %v", name, got, c.want)
		}
		shown := rest.MapItems(got, strconv.Itoa)
		if len(shown.Items) != len(c.want) || shown.Total != 5 || shown.Page != c.page || shown.Limit != c.limit {
			t.Errorf("%s, shown: %+v", name, shown)
		}
		one := rest.PageOf[int](nil, p)
		for _, v := range all {
			one.Add(v)
		}
		if !slices.Equal(one.Items, c.want) || one.Total != 5 {
			t.Errorf("%s, one after another: %+v, want %v", name, one, c.want)
		}
	}
}

func TestSort_Apply(t *testing.T) {
	type sort = rest.Sort[Lamp, lamps]
	for name, c := range map[string]struct {
		sort sort
		want string
	}{
		"as the list is unless asked":             {sort{}, "Ash birch Cedar"},
		"the last first":                          {sort{Order: "desc"}, "Cedar birch Ash"},
		"equal ones as they come":                 {sort{By: "watts"}, "Cedar Ash birch"},
		"equal ones the other way, when reversed": {sort{By: "watts", Order: "desc"}, "birch Ash Cedar"},
	} {
		all := []Lamp{{"Cedar", 4}, {"Ash", 4}, {"birch", 9}}
		c.sort.Apply(all)
		if got := fmt.Sprintf("%s %s %s", all[0].Name, all[1].Name, all[2].Name); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestSort_RefusesWhatIsNotDeclared(t *testing.T) {
	s := openReply(t)
	for line, says := range map[string]string{
		"GET /things?sort_by=colour":    `"colour" is not one of name`,
		"GET /things?sort_by=NAME":      `"NAME" is not one of name`,
		"GET /things?sort_order=upward": "sort_order",
		"GET /things?sort_by=name":      "",
		"GET /things?sort_by=":          "sort_by: it is empty",
	} {
		w := s.sendRequest(anna, line, "")
		body := strings.ReplaceAll(w.Body.String(), `\"`, `"`)
		if says == "" && w.Code != http.StatusOK || says != "" &&
			(w.Code != http.StatusBadRequest || !strings.Contains(body, says)) {
			t.Errorf("%s: %d %s", line, w.Code, body)
		}
	}
}
