package settings

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"testing"
)

// modelled is a call as the model of AWS is asked for it.
type modelled struct {
	Group, Op, HTTP string
	Params          map[string]any
	Paths           []string // in an answer of the group
}

// Botocore has AWS's own models of its services: each call of the tables, its parameters and the paths in its answer
// are in them.
func TestTables_AreInTheModelsOfAWS(t *testing.T) {
	if os.Getenv("LAMPLIGHTER_PEERS") != "1" {
		t.Skip("SKIPPED: set LAMPLIGHTER_PEERS=1 to hold the tables against botocore")
	}
	if err := exec.CommandContext(t.Context(), "python3", "-c", "import botocore").Run(); err != nil {
		t.Skipf("SKIPPED: botocore is not installed: %v", err)
	}
	b, err := json.Marshal(modelledCalls())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", "testdata/models.py")
	cmd.Stdin = bytes.NewReader(b)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

func modelledCalls() []modelled {
	var out []modelled
	for _, k := range kinds() {
		for _, r := range k.reads {
			m := model(r.call, nil)
			for _, v := range k.values {
				for _, path := range []string{v.Path, v.when} {
					m.Paths = append(m.Paths, joined(r.at, path))
				}
				if v.field != "" {
					m.Paths = append(m.Paths, joined(r.at, v.Path+"."+v.field))
				}
			}
			m.Paths = append(m.Paths, joined(r.at, k.state))
			m.Group = k.typeOf
			out = append(out, m)
		}
		for _, v := range k.values {
			for to, c := range v.calls {
				if to == "" {
					out = append(out, model(c, &v))
				} else {
					out = append(out, model(c, nil))
				}
			}
			if v.less != nil {
				out = append(out, model(*v.less, &v))
			}
		}
	}
	for _, r := range removals() {
		for i, read := range r.reads {
			m := model(read.call, nil)
			if m.Group = r.typeOf; i == 0 {
				m.Paths = append(m.Paths, joined(read.at, r.state))
			}
			out = append(out, m)
		}
		for _, u := range r.users {
			if u.by.op != "" {
				m := model(u.by, nil)
				m.Group, m.Paths = u.by.op, []string{joined(u.at, u.field)}
				out = append(out, m)
			}
		}
		for _, c := range []call{r.tag, r.untag, r.remove} {
			out = append(out, model(c, nil))
		}
	}
	return out
}

func joined(at, path string) string {
	switch {
	case path == "":
		return ""
	case at == "":
		return path
	}
	return at + "." + path
}

func model(c call, v *value) modelled {
	m := modelled{Op: c.op, HTTP: c.http, Params: map[string]any{}}
	maps.Copy(m.Params, c.in)
	if v != nil && v.Write != "" {
		kind := "text"
		switch {
		case v.Bool:
			kind = "bool"
		case v.Number:
			kind = "number"
		case v.isList() || v.made != nil:
			kind = "list"
		}
		m.Params[v.Write] = "is:" + kind
	}
	return m
}
