package kubernetes

import (
	"context"
	"slices"

	"lamplighter.dev/shared/cloud"
)

// checkBaseline refuses the pod security level baseline for a namespace whose pods do not keep it: running pods stay,
// but none of them would come back. Pods of size 0 count, too.
func checkBaseline(ctx context.Context, k *objectChange, _ string) ([]string, error) {
	ns, why := k.at.name, ""
	templates, err := k.c.templatesIn(ctx, ns)
	if err != nil {
		return nil, err
	}
	for _, t := range templates {
		if p := baselineProblem(t.spec); p != "" {
			why = t.owner + " " + p
		}
	}
	pods, err := k.c.listDocuments(ctx, podsOf, ns)
	if err != nil {
		return nil, err
	}
	for _, d := range pods {
		spec, _ := d.at("spec").(map[string]any)
		if p := baselineProblem(spec); p != "" {
			why = "pod " + d.text("metadata", "name") + " " + p
		}
	}
	if why != "" {
		return nil, cloud.ErrUnsupported("%s, which the level baseline forbids: change that first", why)
	}
	return []string{"new pods that break the level are refused from now on"}, nil
}

// baselineCaps are the capabilities that containers may add at the level baseline.
var baselineCaps = []string{
	"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
	"SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
}

// safeSysctls are the kernel parameters that pods may set at the level baseline.
var safeSysctls = []string{
	"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start",
	"net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports",
	"net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
	"net.ipv4.tcp_keepalive_probes",
}

// baselineProblem returns what the level baseline forbids of a pod; "" if nothing. It is stricter than the level where
// that allows some values: with an own SELinux, AppArmor or Windows setting, a person has to look.
func baselineProblem(spec document) string {
	for _, name := range []string{"hostNetwork", "hostPID", "hostIPC"} {
		if spec.at(name) == true {
			return "has " + name
		}
	}
	for _, v := range spec.items("volumes") {
		if v.at("hostPath") != nil {
			return "mounts a path of its node"
		}
	}
	for _, s := range spec.items("securityContext", "sysctls") {
		if !slices.Contains(safeSysctls, s.text("name")) {
			return "sets the kernel parameter " + s.text("name")
		}
	}
	if why := contextProblem(spec); why != "" {
		return why
	}
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, c := range spec.items(list) {
			if why := containerProblem(c); why != "" {
				return why
			}
		}
	}
	return ""
}

func containerProblem(c document) string {
	name := " in container " + c.text("name")
	caps, _ := c.at("securityContext", "capabilities", "add").([]any)
	for _, added := range caps {
		if text, _ := added.(string); !slices.Contains(baselineCaps, text) {
			return "adds the capability " + text + name
		}
	}
	for _, p := range c.items("ports") {
		if p.number("hostPort") > 0 {
			return "takes a port of its node" + name
		}
	}
	if c.at("securityContext", "privileged") == true {
		return "is privileged" + name
	}
	if m := c.text("securityContext", "procMount"); m != "" && m != "Default" {
		return "has procMount " + m + name
	}
	return contextProblem(c)
}

// contextProblem returns what a security context of a pod or container has that the level forbids or limits.
func contextProblem(of document) string {
	for _, name := range []string{"seLinuxOptions", "appArmorProfile", "windowsOptions"} {
		if of.at("securityContext", name) != nil {
			return "has " + name + " in a security context"
		}
	}
	if of.text("securityContext", "seccompProfile", "type") == "Unconfined" {
		return "is Unconfined by seccomp"
	}
	return ""
}
