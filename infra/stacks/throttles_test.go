package stacks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"lamplighter.dev/functions"
	"lamplighter.dev/infra/stacks"
)

// throttle is a limit of requests a second for the routes below a prefix.
type throttle struct {
	prefix      string
	rate, burst int
}

// throttles are the limits of routes that strangers may call: sign-in, where a password costs 250 ms of processor time,
// and messages of other programs. They are for all callers together. They are far above what 10,000 users need, because
// a flood that uses them up keeps others out as well; the firewall limits a single source.
var throttles = []throttle{{"/auth", 100, 200}, {"/oauth", 100, 200}, {"/webhooks", 200, 400}}

// throttleOf returns the limit of a path, and false if it has none of its own.
func throttleOf(path string) (throttle, bool) {
	i := slices.IndexFunc(throttles, func(t throttle) bool {
		return path == t.prefix || strings.HasPrefix(path, t.prefix+"/")
	})
	if i < 0 {
		return throttle{}, false
	}
	return throttles[i], true
}

// encodePath returns a path in the form of MethodSettings: a slash, and the path with "~1" in place of its slashes.
func encodePath(path string) string { return "/" + strings.ReplaceAll(path, "/", "~1") }

// throttlesOf returns the method settings of throttled routes, in YAML. API Gateway keeps settings by route and method,
// also for a route with ANY. Only the methods of operations have settings: other methods are answered 405 at once, and
// a change of a stage takes few settings at a time.
func throttlesOf(routes []functions.Route) string {
	var out []string
	for _, s := range throttled(routes) {
		out = append(out, fmt.Sprintf("        - {ResourcePath: \"%s\", HttpMethod: %s, ThrottlingRateLimit: %d, "+
			"ThrottlingBurstLimit: %d}\n", s.Path, s.Method, s.Rate, s.Burst))
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), "")
}

// throttled returns the settings of the throttled operations.
func throttled(routes []functions.Route) []setting {
	var all []route
	for _, r := range routes {
		all = append(all, route{path: r.Path})
	}
	var out []setting
	for _, ops := range operations() {
		for _, op := range ops {
			t, ok := throttleOf(op.Path)
			at, routed := serving(all, placeholder.ReplaceAllString(op.Path, "x"))
			if ok && routed {
				out = append(out, setting{encodePath(at.path), op.Method, t.rate, t.burst})
			}
		}
	}
	return out
}

// setting is one of the API's method settings.
type setting struct {
	Path   string `yaml:"ResourcePath"`
	Method string `yaml:"HttpMethod"`
	Rate   int    `yaml:"ThrottlingRateLimit"`
	Burst  int    `yaml:"ThrottlingBurstLimit"`
}

// settingsOf reads the method settings of the API.
func settingsOf(t *testing.T) []setting {
	t.Helper()
	var doc struct {
		Resources struct {
			API struct {
				Properties struct {
					Settings []setting `yaml:"MethodSettings"`
				} `yaml:"Properties"`
			} `yaml:"Api"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(readAll(t)[stacks.Root], &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Resources.API.Properties.Settings
}

func TestThrottles_LimitWhatStrangersMayCall(t *testing.T) {
	settings := map[string]setting{}
	for _, s := range settingsOf(t) {
		if _, twice := settings[s.Path+" "+s.Method]; twice {
			t.Errorf("%s %s has two settings", s.Method, s.Path)
		}
		settings[s.Path+" "+s.Method] = s
	}
	all := settings["/* *"]
	if all.Rate < 1 || all.Burst < 1 {
		t.Fatalf("the stage has the limits %+v", all)
	}
	routes, limited := routesOf(t), map[string]bool{}
	for _, ops := range operations() {
		for _, op := range ops {
			at, _ := serving(routes, placeholder.ReplaceAllString(op.Path, "x"))
			first, key := strings.Split(op.Path, "/")[1], "/"+strings.ReplaceAll(at.path, "/", "~1")+" "+op.Method
			want := slices.Contains([]string{"auth", "oauth", "webhooks"}, first)
			s, has := settings[key]
			if has != want || has && (s.Rate < 1 || s.Rate >= all.Rate || s.Burst < s.Rate || s.Burst >= all.Burst) {
				t.Errorf("%s %s has the limits %+v, of its own: %v, want that %v", op.Method, op.Path, s, has, want)
			}
			if limited[key] = true; !want {
				delete(limited, key)
			}
		}
	}
	if len(limited) < 15 || len(settings) != 1+len(limited) {
		t.Errorf("%d routes and methods are throttled by %d settings", len(limited), len(settings)-1)
	}
}
