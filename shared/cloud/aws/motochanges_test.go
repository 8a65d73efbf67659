package aws_test

import (
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
)

// Moto is an independent implementation of EC2: volumes are marked, copied, deleted and restored, snapshots are
// deleted, and addresses are released.
func TestMotoCarriesChangesOut(t *testing.T) {
	url := moto(t)
	s := seeder{t: t, ctx: t.Context(), cfg: motoConfig(url)}
	volume := s.form("ec2:CreateVolume", ec2Version, "AvailabilityZone", region+"a", "Size", "40", "VolumeType", "gp3")
	address := s.form("ec2:AllocateAddress", ec2Version, "Domain", "vpc")
	conn, err := aws.New(motoOptions()).Connect(t.Context(), motoKeys(url))
	if err != nil {
		t.Fatal(err)
	}
	arn := "arn:aws:ec2:" + region + ":" + motoAccount + ":"
	for _, want := range []cloud.Change{
		{
			Verb: cloud.Delete, Kind: "aws-ebs", Region: region, Token: "rem_1-0",
			UID: arn + "volume/" + volume.text(s, "volumeId"), Steps: []string{cloud.StepCopy, cloud.StepSelf},
		},
		{
			Verb: cloud.Release, Kind: "aws-eip", Region: region, Token: "rem_1-1",
			UID: arn + "elastic-ip/" + address.text(s, "allocationId"), Steps: []string{cloud.StepSelf},
		},
	} {
		t.Run(want.Kind, func(t *testing.T) {
			c := conn.(cloud.Changer)
			p, err := c.PlanChange(t.Context(), want)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range want.Calls(p.After) {
				applyAndAwait(t, c, cloud.ChangeCall{Change: want, Set: step.Set})
			}
			applyAndAwait(t, c, cloud.ChangeCall{Change: want, Set: p.Before, Native: p.Native})
		})
	}
}

// applyAndAwait makes a call and waits for its values.
func applyAndAwait(t *testing.T, c cloud.Changer, call cloud.ChangeCall) {
	t.Helper()
	if err := c.ApplyChange(t.Context(), call); err != nil {
		t.Fatalf("%v: %v", call.Set, err)
	}
	for range 200 { // each takes some milliseconds
		if ok, _, err := c.CheckChange(t.Context(), call); err != nil || ok {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	_, now, _ := c.CheckChange(t.Context(), call)
	t.Fatalf("not reached: %v, want %v", now, call.Set)
}
