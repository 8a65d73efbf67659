// Command record writes how the clients of the AWS SDK send requests and read responses, for the tests of
// shared/cloud/aws/wire. It is a module of its own, because the service does not compile the SDK's packages that it
// needs.
//
//	cd shared/testkit/clouds/awswire/record && go run . ../../../../cloud/aws/wire/testdata
//
// A new operation is added to its client in shared/cloud/aws/wire and to services.go first.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"lamplighter.dev/shared/testkit/clouds/awswire"
)

// service is one service with its clients, which are the functions NewFromConfig.
type service struct {
	name     string
	sdk, own any
	ops      []string
}

// regions are some of each partition, and one that is not known.
var regions = []string{
	"us-east-1", "us-west-2", "eu-west-1", "ap-southeast-5", "mx-central-1", "cn-north-1", "cn-northwest-1",
	"us-gov-west-1", "us-gov-east-1", "us-iso-east-1", "us-iso-west-1", "us-isob-east-1", "eu-isoe-west-1",
	"us-isof-south-1", "eusc-de-east-1", "xx-new-1",
}

func main() {
	for _, s := range listServices() {
		b, err := json.MarshalIndent(s.record(), "", " ")
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], s.name+".json"), append(b, '\n'), 0o600)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

func (s service) record() awswire.Recording {
	r := awswire.Recording{Service: s.name, Endpoints: map[string][2]string{}}
	for _, op := range s.ops {
		r.Operations = append(r.Operations, s.recordOperation(op))
	}
	op := s.ops[0]
	for _, region := range regions {
		_, sent, _ := awswire.Client{New: s.sdk}.Call(region, "", op, s.params(op), awswire.Answer{Status: 200})
		host, signed := strings.Split(sent.URL, "/"), strings.Split(sent.Signed, "/")
		if len(host) > 2 {
			r.Endpoints[region] = [2]string{host[2], signed[0]}
		}
	}
	return r
}

// params returns the SDK's input of an operation, with the values that Fill writes.
func (s service) params(op string) any {
	in, params := awswire.Client{New: s.own}.Input(op), awswire.Client{New: s.sdk}.Input(op)
	awswire.FillFields(in)
	copyFields(reflect.ValueOf(params).Elem(), reflect.ValueOf(in).Elem())
	return params
}

func (s service) recordOperation(op string) awswire.Operation {
	sdk, params := awswire.Client{New: s.sdk}, s.params(op)
	out := awswire.Client{New: s.own}.Output(op)
	awswire.FillFields(out)
	answers := s.answers(op, out)
	_, sent, _ := sdk.Call(awswire.Region, "", op, params, answers[0])
	_, atAddress, _ := sdk.Call(awswire.Region, awswire.Address, op, params, answers[0])
	o := awswire.Operation{Name: op, Request: sent, AtAddress: atAddress.URL}
	for _, a := range answers {
		got, _, err := sdk.Call(awswire.Region, "", op, params, a)
		seen := awswire.Read(a, got, err, reflect.TypeOf(out))
		if isDefect(a, seen) {
			continue
		}
		o.Answers = append(o.Answers, seen)
		warn(s.name+" "+op, seen, out)
	}
	return o
}

// isDefect reports whether the SDK could not read an error that holds no code, or lost the words of one.
func isDefect(a, seen awswire.Answer) bool {
	return a.Name == numberedError && seen.Failed ||
		seen.Message == "" && seen.Code != "" && strings.Contains(a.Body, message)
}

// warn prints a message if the SDK does not read the values that the tags of the repository's structs wrote.
func warn(name string, a awswire.Answer, out any) {
	want := awswire.NormalizeJSON(awswire.ConvertToPlain(reflect.ValueOf(out), reflect.TypeOf(out)))
	if a.Name == full && !reflect.DeepEqual(awswire.NormalizeJSON(a.Want), want) {
		fmt.Fprintf(os.Stderr, "%s: the SDK reads %v, the tags wrote %v\n", name, a.Want, want)
	}
}

// copyFields copies the fields that both have, by name.
func copyFields(to, from reflect.Value) {
	switch {
	case from.Kind() == reflect.Pointer:
		if from.IsNil() {
			return
		}
		to.Set(reflect.New(to.Type().Elem()))
		copyFields(to.Elem(), from.Elem())
	case awswire.IsTime(from.Type()):
		to.Set(from.FieldByName("Time"))
	case from.Kind() == reflect.Struct:
		for f, v := range from.Fields() {
			copyFields(to.FieldByName(f.Name), v)
		}
	case from.Kind() == reflect.Slice:
		to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			copyFields(to.Index(i), from.Index(i))
		}
	case from.Kind() == reflect.Map:
		to.Set(reflect.MakeMap(to.Type()))
		for _, k := range from.MapKeys() {
			v := reflect.New(to.Type().Elem()).Elem()
			copyFields(v, from.MapIndex(k))
			to.SetMapIndex(k.Convert(to.Type().Key()), v)
		}
	case from.IsZero() && from.Kind() == reflect.String:
	default:
		to.Set(from.Convert(to.Type()))
	}
}
