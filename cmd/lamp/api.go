package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"lamplighter.dev/shared/api/client"
)

// apiCall is a request as it is, from the flags.
type apiCall struct {
	a      *app
	fields []string
	input  string
}

func (a *app) apiCommand() *cobra.Command {
	x := &apiCall{a: a}
	c := &cobra.Command{
		Use: "api METHOD PATH", Short: "Send any request of the interface", Args: cobra.ExactArgs(2),
		Long: "Send any request of the interface, and print the answer as it is. It asks no questions: a write acts " +
			"at once.",
		Example: "  lamp api GET '/resources?status=running&limit=3'\n" +
			"  lamp api POST /teams -F name=payments\n" +
			"  lamp api PUT /schedules/sch_1 --input change.json",
		RunE: func(c *cobra.Command, args []string) error {
			return x.run(c.Context(), strings.ToUpper(args[0]), args[1])
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return []string{"GET", "POST", "PUT", "PATCH", "DELETE"}, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	c.Flags().StringArrayVarP(&x.fields, "field", "F", nil, "a member of the body: name=value; JSON values as such")
	c.Flags().StringVar(&x.input, "input", "", "a file with the body, in JSON; - is standard input")
	c.MarkFlagsMutuallyExclusive("field", "input")
	return c
}

func (x *apiCall) run(ctx context.Context, method, path string) error {
	body, err := x.body()
	if err != nil {
		return err
	}
	path, query, err := splitPath(path)
	if err != nil {
		return err
	}
	to, err := x.a.client()
	if err != nil {
		return err
	}
	r := client.Request{Method: method, Path: path, Query: query}
	if body != nil {
		r.Body = body
	}
	answer, err := to.Do(ctx, r)
	if err != nil {
		return err
	}
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") && json.Valid(answer.Body) {
		return x.a.printJSON(answer.Body)
	}
	_, err = x.a.out.Write(answer.Body)
	return err
}

func splitPath(path string) (string, url.Values, error) {
	path, text, _ := strings.Cut(path, "?")
	query, err := url.ParseQuery(text)
	if err != nil || !strings.HasPrefix(path, "/") {
		return "", nil, misused("the path is %q: write it as /resources?limit=3", path)
	}
	return path, query, nil
}

// body returns the body of the request, or nil.
func (x *apiCall) body() (json.RawMessage, error) {
	if x.input != "" {
		return x.readInput()
	}
	if len(x.fields) == 0 {
		return nil, nil
	}
	members := map[string]any{}
	for _, f := range x.fields {
		name, value, ok := strings.Cut(f, "=")
		if !ok || name == "" {
			return nil, misused("-F is %q: write name=value", f)
		}
		if members[name] = value; json.Valid([]byte(value)) {
			members[name] = json.RawMessage(value)
		}
	}
	return json.Marshal(members)
}

func (x *apiCall) readInput() (json.RawMessage, error) {
	var b []byte
	var err error
	if x.input == "-" {
		b, err = io.ReadAll(x.a.in)
	} else {
		b, err = os.ReadFile(x.input)
	}
	switch {
	case err != nil:
		return nil, misused("read the body: %w", err)
	case !json.Valid(b):
		return nil, misused("%s holds no JSON", x.input)
	}
	return b, nil
}

// printJSON prints JSON with indentation.
func (a *app) printJSON(raw []byte) error {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return fmt.Errorf("print the answer: %w", err)
	}
	b.WriteByte('\n')
	_, err := a.out.Write(bytes.TrimLeft(b.Bytes(), " \n"))
	return err
}
