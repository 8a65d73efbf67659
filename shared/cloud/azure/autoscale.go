package azure

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

const (
	settingType    = "Microsoft.Insights/autoscaleSettings"
	settingVersion = "2022-10-01"
	// pausedTag marks an autoscale setting that a stop of ours has disabled: should the stop fail after that, the next
	// one still remembers that it was enabled. It is a copy on the resource itself, for the case that ours is lost,
	// too.
	pausedTag = "lamplighter-autoscale"
	paused    = "paused"
)

var (
	settingRead   = settingType + "/read"
	settingWrite  = settingType + "/write"
	settingDelete = settingType + "/delete"
)

// setting is an autoscale setting: a resource of Azure Monitor that names the resource that it scales. It would fill a
// stopped scale set again.
type setting struct {
	id      string
	enabled bool // or was, before a stop of ours
	paused  bool // by a stop of ours
	tagged  bool // carries the tag of a stop of ours
	bounds  bounds
	raw     json.RawMessage
}

// settings are autoscale settings by the uid of the scaled resource.
type settings map[string]*setting

type settingBody struct {
	ID         string            `json:"id"`
	Tags       map[string]string `json:"tags"`
	Properties struct {
		Enabled  bool   `json:"enabled"`
		Target   string `json:"targetResourceUri"`
		Profiles []struct {
			Capacity struct{ Minimum, Maximum string } `json:"capacity"` // numbers, as texts
		} `json:"profiles"`
	} `json:"properties"`
}

// readSettings reads the autoscale settings of the subscription from the resource manager.
func (c *conn) readSettings(ctx context.Context, subscription string) (settings, error) {
	raw, err := listAll[json.RawMessage](ctx, c.client, subscriptionsPath+"/"+subscription+"/providers/"+settingType,
		settingVersion)
	if err != nil {
		return nil, err
	}
	return newSettings(raw)
}

// listedSettings reads the autoscale settings of a region from the Resource Graph, for listings.
func (c *conn) listedSettings(ctx context.Context, k kind, region string) (settings, error) {
	if !k.autoscaled {
		return nil, nil //nolint:nilnil // a kind without settings has none
	}
	all, err := askGraphAll[json.RawMessage](ctx, c, inRegion(settingType, region))
	if err != nil {
		return nil, err
	}
	return newSettings(all)
}

func newSettings(raw []json.RawMessage) (settings, error) {
	all := settings{}
	for _, r := range raw {
		var b settingBody
		if err := json.Unmarshal(r, &b); err != nil {
			return nil, errUnreadable(settingType, err)
		}
		s := &setting{id: b.ID, paused: b.Tags[pausedTag] == paused && !b.Properties.Enabled, raw: r}
		s.tagged = b.Tags[pausedTag] == paused
		s.enabled = b.Properties.Enabled || s.paused
		for i, p := range b.Properties.Profiles {
			least, errMin := strconv.ParseInt(p.Capacity.Minimum, 10, 64)
			most, errMax := strconv.ParseInt(p.Capacity.Maximum, 10, 64)
			if errMin != nil || errMax != nil {
				return nil,
					errUnreadable(b.ID,
						fmt.Errorf("profile %d has capacities %q and %q", i, p.Capacity.Minimum, p.Capacity.Maximum))
			}
			if i == 0 {
				s.bounds = bounds{least, most}
			}
			s.bounds = bounds{min(s.bounds.Min, least), max(s.bounds.Max, most)}
		}
		all[uidOf(b.Properties.Target)] = s
	}
	return all, nil
}

// isActive reports whether the setting moves a size at present.
func (s *setting) isActive() bool { return s != nil && s.enabled && !s.paused }

// disableSetting disables the setting, unless it is.
func (s *setting) disableSetting(ctx context.Context, c *armClient) error {
	if !s.isActive() {
		return nil
	}
	return s.writeSetting(ctx, c, func(body map[string]any) {
		partOf(body, "tags")[pausedTag] = paused
		partOf(body, "properties")["enabled"] = false
	})
}

// enableSetting enables the setting that a stop has disabled, and takes the tag of the stop away in any case.
func (s *setting) enableSetting(ctx context.Context, c *armClient) error {
	if s == nil || s.isActive() && !s.tagged {
		return nil
	}
	return s.writeSetting(ctx, c, func(body map[string]any) {
		delete(partOf(body, "tags"), pausedTag)
		partOf(body, "properties")["enabled"] = true
	})
}

// setBounds sets the minimum and maximum of every profile, because any of them may be the active one.
func (s *setting) setBounds(ctx context.Context, c *armClient, b bounds) error {
	if b == s.bounds {
		return nil
	}
	return s.writeSetting(ctx, c, func(body map[string]any) {
		profiles, _ := partOf(body, "properties")["profiles"].([]any)
		for _, p := range profiles {
			profile, ok := p.(map[string]any)
			if !ok {
				continue
			}
			capacity := partOf(profile, "capacity")
			if b.Min != s.bounds.Min {
				capacity["minimum"] = strconv.FormatInt(b.Min, 10)
			}
			if b.Max != s.bounds.Max {
				capacity["maximum"] = strconv.FormatInt(b.Max, 10)
			}
			capacity["default"] = clamp(capacity)
		}
	})
}

// clamp returns the default of a profile, limited to its minimum and maximum. A value that is not a number stays.
func clamp(capacity map[string]any) any {
	var n [3]int64
	for i, name := range []string{"default", "minimum", "maximum"} {
		text, _ := capacity[name].(string)
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return capacity["default"]
		}
		n[i] = v
	}
	return strconv.FormatInt(max(n[1], min(n[0], n[2])), 10)
}

// writeSetting sends the setting with a change. All other fields stay as they were read.
func (s *setting) writeSetting(ctx context.Context, c *armClient, change func(body map[string]any)) error {
	whole, err := decodeEditable(s.raw)
	if err != nil {
		return err
	}
	body := map[string]any{
		"location": whole["location"], "tags": partOf(whole, "tags"),
		"properties": partOf(whole, "properties"),
	}
	change(body)
	return c.callARM(ctx, call{
		method: http.MethodPut, path: strings.TrimSuffix(s.id, "/"), version: settingVersion, body: body,
	}, nil)
}
