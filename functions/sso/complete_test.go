package sso

import (
	"net/http"
	"testing"

	"lamplighter.dev/shared/identity"
	"lamplighter.dev/shared/sessions"
	"lamplighter.dev/shared/table"
)

func TestFirstSignInMakesAMemberWithTheDefaultRole(t *testing.T) {
	h := newHouse(t)
	o, w := h.found("owner@example.com"), newTwin()
	o.connect(w.metadata(), "example.com")

	a := h.finish(w.answer(h, h.begin(ada)))
	a.want(t, http.StatusOK)
	user := a.Data["user"].(map[string]any)
	if user["email"] != ada || user["name"] != "Ada Lovelace" || a.Data["accessToken"] == "" || a.Data["refreshToken"] == "" {
		t.Errorf("%v", a.Data)
	}
	m := row[identity.Member](h, identity.MemberKey(o.org, user["id"].(string)))
	if len(m.Grants) != 1 || m.Grants[0].Role != identity.Viewer || m.Grants[0].Scope != identity.OrgScope || m.Email != ada {
		t.Errorf("member %+v", m)
	}
	if n := row[identity.Access](h, identity.AccessKey(o.org)); n.Members != 2 || n.Owners != 1 {
		t.Errorf("counted %+v", n)
	}
	if m := row[identity.Membership](h, identity.MembershipKey(m.User, o.org)); m.Org != o.org {
		t.Errorf("membership %+v", m)
	}
	claims, err := h.p.Tokens.Verify(anywhere(), a.Data["accessToken"].(string))
	if err != nil || claims.Org != o.org {
		t.Errorf("token of %+v, %v", claims, err)
	}

	again := h.finish(w.answer(h, h.begin(ada)))
	again.want(t, http.StatusOK)
	if got := again.Data["user"].(map[string]any)["id"]; got != user["id"] {
		t.Errorf("the second time it is %v, was %v", got, user["id"])
	}
	if n := row[identity.Access](h, identity.AccessKey(o.org)); n.Members != 2 {
		t.Errorf("counted twice: %+v", n)
	}
}

var _ = sessions.How{}
var _ = table.Key{}
