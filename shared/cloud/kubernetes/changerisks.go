package kubernetes

import (
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// riskValues are the powers of pods over their node, which a change takes away.
func riskValues() []changedValue {
	return []changedValue{
		risk("privileged", []path{inContainers("securityContext", "privileged")}, everyContainer(dropPrivileged)),
		capabilities(),
		risk("privilege_escalation", []path{inContainers("securityContext", "allowPrivilegeEscalation")},
			everyContainer(dropEscalation)),
		risk("writable_root", []path{inContainers("securityContext", "readOnlyRootFilesystem")},
			everyContainer(func(c document, _ object) error {
				c.put(true, "securityContext", "readOnlyRootFilesystem")
				return nil
			})),
		risk("run_as_root", []path{inContainers("securityContext", "runAsNonRoot")}, everyContainer(dropRoot)),
		risk("token_mounted", []path{inTemplate("automountServiceAccountToken")},
			func(_ *objectChange, d document) error {
				d.put(false, inTemplate("automountServiceAccountToken")...)
				return nil
			}),
		risk("host_namespaces", []path{inTemplate("hostNetwork"), inTemplate("hostPID"), inTemplate("hostIPC")},
			func(_ *objectChange, d document) error {
				for _, name := range []string{"hostNetwork", "hostPID", "hostIPC"} {
					d.put(nil, inTemplate(name)...)
				}
				return nil
			}),
	}
}

// risk is a fact about the pods of a workload that a change makes false.
func risk(name string, fields []path, drop func(k *objectChange, d document) error) changedValue {
	return changedValue{
		name: name, fields: fields,
		read: func(k *objectChange) string {
			f := cloud.Facts{}
			k.o.Spec.Template.Spec.addRisks(f)
			return strconv.FormatBool(f[name] == true)
		},
		write: func(k *objectChange, d document, text string) error {
			if text != "false" {
				return cloud.ErrInvalid("%s %.40q is not false", name, text)
			}
			return drop(k, d)
		},
	}
}

// everyContainer returns an edit of each container of a workload's pods.
func everyContainer(edit func(c document, o object) error) func(*objectChange, document) error {
	return func(k *objectChange, d document) error {
		for _, c := range d.containers() {
			if err := edit(c, k.o); err != nil {
				return err
			}
		}
		return nil
	}
}

func dropPrivileged(c document, _ object) error {
	if c.at("securityContext", "privileged") == true {
		c.put(false, "securityContext", "privileged")
	}
	return nil
}

// dropEscalation refuses containers whose other rights need it: the cluster would refuse them, too.
func dropEscalation(c document, _ object) error {
	caps, _ := c.at("securityContext", "capabilities", "add").([]any)
	for _, name := range caps {
		if name == "SYS_ADMIN" || name == "CAP_SYS_ADMIN" {
			return cloud.ErrUnsupported("container %s has the capability SYS_ADMIN: take that away first",
				c.text("name"))
		}
	}
	if c.at("securityContext", "privileged") == true {
		return cloud.ErrUnsupported("container %s is privileged: take that away first", c.text("name"))
	}
	c.put(false, "securityContext", "allowPrivilegeEscalation")
	return nil
}

// dropRoot refuses containers that say they run as root: they would not start.
func dropRoot(c document, o object) error {
	user, given := c.at("securityContext", "runAsUser").(int64)
	if !given && o.Spec.Template.Spec.Security.RunAsUser != nil {
		user, given = *o.Spec.Template.Spec.Security.RunAsUser, true
	}
	if given && user == 0 {
		return cloud.ErrUnsupported("container %s says that it runs as user 0: give its image another user first",
			c.text("name"))
	}
	if !given {
		c.put(true, "securityContext", "runAsNonRoot")
	}
	return nil
}

// capabilities are those that containers add, with commas between them. They are only taken away.
func capabilities() changedValue {
	return changedValue{
		name: "dangerous_caps", fields: []path{inContainers("securityContext", "capabilities", "add")},
		read: func(k *objectChange) string {
			f := cloud.Facts{}
			k.o.Spec.Template.Spec.addRisks(f)
			caps, _ := f["dangerous_caps"].([]string)
			return strings.Join(caps, ",")
		},
		write: func(_ *objectChange, d document, text string) error {
			words, takes := strings.CutPrefix(text, cloud.Taken)
			named := strings.Split(words, ",")
			for _, c := range d.containers() {
				keepCapabilities(c, func(name string) bool { return slices.Contains(named, name) != takes })
			}
			return nil
		},
	}
}

// keepCapabilities takes the other capabilities away from what a container adds.
func keepCapabilities(c document, keep func(name string) bool) {
	list, _ := c.at("securityContext", "capabilities", "add").([]any)
	var kept []any
	for _, v := range list {
		if name, _ := v.(string); keep(name) {
			kept = append(kept, v)
		}
	}
	switch {
	case len(kept) == len(list):
	case len(kept) == 0:
		c.put(nil, "securityContext", "capabilities", "add")
	default:
		c.put(kept, "securityContext", "capabilities", "add")
	}
}
