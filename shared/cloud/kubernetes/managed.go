package kubernetes

import (
	"fmt"
	"strings"
	"time"
)

// The annotations that a stop adds to an object in the same change. They are a copy of the snapshot for the case that
// the table is lost, and tell who stopped the object, and when. A start removes them.
const (
	stoppedReplicas = "lamplighter.dev/stopped-replicas" // how many there were
	stoppedAt       = "lamplighter.dev/stopped-at"       // RFC 3339
	stoppedWith     = "lamplighter.dev/stopped-with"     // "namespace": by a stop of the whole namespace
)

// The permissions that an object's owner may give on it, as an annotation or a label with the value "true".
const (
	allowStop = "lamplighter.dev/allow-stop" // on a DaemonSet: it may be stopped
	// on a StatefulSet: it may be stopped though that deletes its volume claims.
	allowVolumeLoss = "lamplighter.dev/allow-volume-loss"
)

// ownerAllows reports whether the owner of the object has permitted it by an annotation or a label on it.
func (o object) ownerAllows(name string) bool {
	return o.Annotations[name] == "true" || o.Labels[name] == "true"
}

// withNamespace is the value of stoppedWith on objects that a stop of their namespace stopped.
const withNamespace = "namespace"

// controllerHoldTime is how long an object with a controller must stay off before it counts as stopped: Argo CD and
// Flux compare every minute to every three minutes, and at once when they watch.
const controllerHoldTime = 90 * time.Second

// argo are the annotations and labels that Argo CD sets on its objects; flux are those of Flux.
var (
	argo = []string{"argocd.argoproj.io/tracking-id", "argocd.argoproj.io/instance"}
	flux = []string{"kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name"}
)

// controllerName names the controller that may revert changes of the object; "" when none is known.
func (o object) controllerName() string {
	for _, k := range argo {
		if v := firstOf(o.Annotations[k], o.Labels[k]); v != "" {
			return "Argo CD (" + v + ")"
		}
	}
	for _, k := range flux {
		if v := firstOf(o.Labels[k], o.Annotations[k]); v != "" {
			return "Flux (" + v + ")"
		}
	}
	owner, owned := o.controller()
	if !owned {
		return ""
	}
	return owner.Kind + " " + owner.Name
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// stopTime returns when a stop of ours last stopped the object; false when none has.
func (o object) stopTime() (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, o.Annotations[stoppedAt])
	return at, err == nil
}

// holdReason returns the reason why an object that is off does not count as stopped yet; "" if it does.
func (o object) holdReason(now time.Time) string {
	at, ours := o.stopTime()
	who := o.controllerName()
	if !ours || who == "" || now.Sub(at) >= controllerHoldTime {
		return ""
	}
	return fmt.Sprintf("%s manages it and may bring it back: looked at until %s", who,
		at.Add(controllerHoldTime).Format(time.TimeOnly))
}

// driftReason returns a text if an object that we stopped is on again, with the controller that may have started it;
// else "".
func (o object) driftReason() string {
	at, ours := o.stopTime()
	switch who := o.controllerName(); {
	case !ours:
		return ""
	case who != "":
		return fmt.Sprintf("drift: it was stopped at %s and is on again; %s manages it: stop it there, or have it "+
			"leave the replicas alone", at.Format(time.RFC3339), who)
	default:
		return fmt.Sprintf("drift: it was stopped at %s and started again since, by a user or a program",
			at.Format(time.RFC3339))
	}
}

// stopMarks are the annotations of a stop; with is stoppedWith, or "".
func stopMarks(now time.Time, with string) change {
	m := change{stoppedAt: now.Format(time.RFC3339)}
	if m[stoppedWith] = any(nil); with != "" {
		m[stoppedWith] = with
	}
	return m
}

// removedStopMarks takes them away.
func removedStopMarks() change { return change{stoppedAt: nil, stoppedWith: nil, stoppedReplicas: nil} }

// hasStopMarks reports whether the object carries annotations of a stop, which a start takes away.
func (o object) hasStopMarks() bool {
	for _, name := range []string{stoppedAt, stoppedReplicas, stoppedWith, pausedBefore} {
		if _, there := o.Annotations[name]; there {
			return true
		}
	}
	return false
}

// markedWithNS reports whether the object carries annotations of a stop of its namespace, which a start of that takes
// away.
func (o object) markedWithNS() bool { return o.Annotations[stoppedWith] == withNamespace }

// withNS reports whether a stop of the namespace stopped the object, and no other manager has changed that since.
func (o object) withNS() bool { return o.markedWithNS() && !o.takenOver() }

// turnedOff reports whether an object is off because somebody else changed it after our stop. known says that a
// snapshot of our stop exists, though its annotations may be lost.
func (o object) turnedOff(known bool) bool { return (known || o.hasStopMarks()) && o.takenOver() }

// removeStopMarks is the change that takes the annotations of a stop away; nil when there are none.
func (o object) removeStopMarks() change {
	if !o.hasStopMarks() {
		return nil
	}
	a := removedStopMarks()
	a[pausedBefore] = nil
	return change{"metadata": change{"annotations": a}}
}

// Why a start leaves an object off.
const (
	offBefore = "it was off before it was stopped"
	offSince  = "it was switched off by another user or program after the stop"
)

// ofCluster returns the reason why nothing in a namespace is stopped; "" for all namespaces but the cluster's own.
func ofCluster(ns string) string {
	if strings.HasPrefix(ns, "kube-") {
		return "namespace " + ns + " belongs to the cluster itself"
	}
	return ""
}
