package auth

import (
	"testing"

	"lamplighter.dev/shared/testkit/apitest"
)

func TestEnsureVerifiedUser_SetsTheGivenPassword(t *testing.T) {
	h := newFixture(t)
	first := apitest.Value(EnsureVerifiedUser(t.Context(), h.Platform, ada, password, "Ada"))(h)
	session := h.sessionOf(h.logIn())

	same := apitest.Value(EnsureVerifiedUser(t.Context(), h.Platform, ada, password, "Eve"))(h)
	if same.ID != first.ID || same.Name != "Ada" || same.Epoch != session.Epoch {
		t.Errorf("with the same password: %+v; want the account as it was: %+v", same, first)
	}

	const other = "another fine password"
	changed := apitest.Value(EnsureVerifiedUser(t.Context(), h.Platform, ada, other, "Ada"))(h)
	if changed.ID != first.ID || changed.Epoch == session.Epoch {
		t.Errorf("with another password: %+v; want the same account and an end of its sessions", changed)
	}
	h.want(401, "POST", "/auth/login", map[string]any{"email": ada, "password": password})
	h.want(200, "POST", "/auth/login", map[string]any{"email": ada, "password": other})

	if _, err := EnsureVerifiedUser(t.Context(), h.Platform, ada, "short", "Ada"); err == nil {
		t.Error("a password of five characters is set")
	}
}
