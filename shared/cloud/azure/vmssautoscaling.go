package azure

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// leastCooldown is the shortest cooldown that Azure accepts, in seconds.
const leastCooldown = 60

// scaleSetNative gives the scaling of a scale set back: its capacity, and its whole autoscale setting; nil when it had
// none.
type scaleSetNative struct {
	Capacity int64          `json:"capacity"`
	Setting  *settingNative `json:"setting,omitempty"`
}

// settingNative is an autoscale setting in Azure's own form.
type settingNative struct {
	ID         string         `json:"id"`
	Location   any            `json:"location"`
	Tags       map[string]any `json:"tags"`
	Properties map[string]any `json:"properties"`
}

func (s *setting) native() (*settingNative, error) {
	if s == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	whole, err := decodeEditable(s.raw)
	if err != nil {
		return nil, err
	}
	return &settingNative{
		strings.TrimSuffix(s.id, "/"), whole["location"], partOf(whole, "tags"),
		partOf(whole, "properties"),
	}, nil
}

// decodeNative decodes the remembered scaling. Numbers keep their spelling.
func decodeNative(raw json.RawMessage) (n scaleSetNative, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err = d.Decode(&n); err != nil {
		return n, cloud.ErrInvalid("the remembered scaling cannot be read: %v", err)
	}
	return n, nil
}

// same reports whether both are written alike.
func (s *settingNative) same(t *settingNative) bool {
	if s == nil || t == nil {
		return s == t
	}
	return bytes.Equal(cloud.EncodeSnapshot(s.Properties), cloud.EncodeSnapshot(t.Properties)) &&
		bytes.Equal(cloud.EncodeSnapshot(s.Tags), cloud.EncodeSnapshot(t.Tags))
}

func (s *settingNative) put(ctx context.Context, c *armClient) error {
	body := map[string]any{"location": s.Location, "tags": s.Tags, "properties": s.Properties}
	return c.callARM(ctx, call{method: http.MethodPut, path: s.ID, version: settingVersion, body: body}, nil)
}

// profiles returns the profiles of the setting. Any of them may be active.
func (s *settingNative) profiles() []map[string]any {
	if s == nil {
		return nil
	}
	all, _ := s.Properties["profiles"].([]any)
	var out []map[string]any
	for _, p := range all {
		if profile, ok := p.(map[string]any); ok {
			out = append(out, profile)
		}
	}
	return out
}

// rule returns the CPU percentage of the first profile that grows by CPU, and its cooldown.
func (s *settingNative) rule() (percent, cooldown *int64) {
	for _, p := range s.profiles() {
		for _, r := range cpuRules(p, "Increase") {
			t, err := strconv.ParseFloat(textOf(partOf(r, "metricTrigger")["threshold"]), 64)
			if err != nil {
				continue
			}
			n := int64(math.Round(t))
			if wait, ok := secondsOf(textOf(partOf(r, "scaleAction")["cooldown"])); ok {
				cooldown = &wait
			}
			return &n, cooldown
		}
	}
	return nil, nil
}

// readScaleSetAutoscaling returns how a set is scaled. A set without an autoscaler keeps its capacity.
func readScaleSetAutoscaling(ctx context.Context, c *armClient, t target) (cloud.Autoscaling, error) {
	r, err := readScaleSet(ctx, c, t.UID)
	if err != nil {
		return cloud.Autoscaling{}, err
	}
	n := *r.SKU.Capacity
	out := cloud.Autoscaling{Min: n, Max: n, Desired: n}
	native := scaleSetNative{Capacity: n}
	if native.Setting, err = t.setting.native(); err != nil {
		return out, err
	}
	if t.setting.isActive() {
		out.Min, out.Max = t.setting.bounds.Min, t.setting.bounds.Max
		out.TargetCPUPercent, out.CooldownSeconds = native.Setting.rule()
	}
	out.Native = cloud.EncodeSnapshot(native)
	return out, nil
}

// setScaleSetAutoscaling writes the autoscale setting of a set, or makes one, and then its capacity, which the setting
// would bring back.
func setScaleSetAutoscaling(ctx context.Context, c *armClient, t target, want cloud.Autoscaling) error {
	r, err := readScaleSet(ctx, c, t.UID)
	if err != nil {
		return err
	}
	if why := tiedScaleSet(r); why != "" {
		return cloud.ErrUnsupported("%s", why)
	}
	now, err := t.setting.native()
	if err != nil {
		return err
	}
	var to scaleSetNative
	if len(want.Native) > 0 {
		to, err = decodeNative(want.Native)
	} else {
		to, err = wantedScaling(r, t.setting, want)
	}
	if err != nil {
		return err
	}
	if want.KeepStopped {
		to.Capacity, to.Setting = *r.SKU.Capacity, to.Setting.enabledAs(now)
	}
	if err := becomeSetting(ctx, c, now, to.Setting); err != nil || to.Capacity == *r.SKU.Capacity {
		return err
	}
	return resizeScaleSet(ctx, c, r, to.Capacity)
}

// enabledAs returns the setting, enabled or disabled as another one is: a stop disables the setting, and the start
// enables it.
func (s *settingNative) enabledAs(now *settingNative) *settingNative {
	if s == nil || now == nil {
		return s
	}
	out := *s
	out.Properties = maps.Clone(s.Properties)
	out.Properties["enabled"] = now.Properties["enabled"]
	return &out
}

// becomeSetting writes the differences. A setting that the customer made meanwhile stays.
func becomeSetting(ctx context.Context, c *armClient, now, to *settingNative) error {
	switch {
	case now.same(to), to == nil && !now.isOurs():
		return nil
	case to == nil:
		return c.callARM(ctx, call{method: http.MethodDelete, path: now.ID, version: settingVersion}, nil)
	}
	return to.put(ctx, c)
}

// settingName is the name of the setting that is made here for a set.
func settingName(set string) string { return cloud.CPURule + "-" + set }

func (s *settingNative) isOurs() bool {
	name := s.ID[strings.LastIndex(s.ID, "/")+1:]
	return strings.HasPrefix(strings.ToLower(name), cloud.CPURule+"-")
}

// wantedScaling returns the wanted setting. It returns none if there is none and one size is to be kept without a
// rule.
func wantedScaling(r resource, s *setting, want cloud.Autoscaling) (scaleSetNative, error) {
	to := scaleSetNative{Capacity: want.Desired}
	switch err := want.Check(); {
	case err != nil:
		return to, err
	case want.CooldownSeconds != nil && *want.CooldownSeconds < leastCooldown:
		return to, cloud.ErrInvalid("cooldownSeconds %d: Azure waits %d at least", *want.CooldownSeconds, leastCooldown)
	case s == nil && want.TargetCPUPercent == nil && want.Min == want.Max:
		return to, nil
	case s != nil && !s.isActive():
		return to, cloud.ErrUnsupported(
			"the autoscale setting %s of the scale set is disabled: enable it, or delete it", s.id)
	}
	var err error
	if to.Setting, err = s.native(); err != nil {
		return to, err
	}
	if to.Setting == nil {
		to.Setting = newSetting(r)
	}
	for _, p := range to.Setting.profiles() {
		setProfile(p, r.ID, want)
	}
	return to, nil
}

func newSetting(r resource) *settingNative {
	group, _, _ := strings.Cut(r.ID, "/providers/")
	name := settingName(r.Name)
	return &settingNative{
		ID: group + "/providers/" + settingType + "/" + name, Location: r.Location, Tags: map[string]any{},
		Properties: map[string]any{
			"name": name, "enabled": true, "targetResourceUri": r.ID,
			"profiles": []any{map[string]any{"name": "always", "rules": []any{}}},
		},
	}
}

// setProfile puts sizes and rule into a profile. Sizes are texts.
func setProfile(p map[string]any, set string, want cloud.Autoscaling) {
	capacity := partOf(p, "capacity")
	for name, n := range map[string]int64{"minimum": want.Min, "maximum": want.Max, "default": want.Desired} {
		capacity[name] = strconv.FormatInt(n, 10)
	}
	if want.TargetCPUPercent != nil {
		setCPURules(p, set, *want.TargetCPUPercent, want.CooldownSeconds)
	}
}
