// Package awsrequest signs single requests to services of AWS, for functions that would otherwise link a client of the
// SDK for one operation.
package awsrequest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// New returns a POST request with a JSON body to a path of the service, signed by Signature Version 4 at the given
// time. headers are signed too. The path begins with "/" and may have a query.
func New(ctx context.Context, to Service, headers map[string]string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint(to.Config, to.Name)+to.Path,
		bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	creds, err := to.Config.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("find credentials: %w", err)
	}
	sum := sha256.Sum256(body)
	return req, v4.NewSigner().SignHTTP(ctx, creds, req, hex.EncodeToString(sum[:]), to.Name, to.Config.Region, to.At)
}

// Service is the destination of a request: a service of AWS by the name in its addresses, with a path, and the time
// that the signature states.
type Service struct {
	Config aws.Config
	Name   string
	Path   string
	At     time.Time
}

// endpoint returns the address of a service in the region. China and the European Sovereign Cloud have domains of their
// own.
func endpoint(cfg aws.Config, service string) string {
	if cfg.BaseEndpoint != nil {
		return *cfg.BaseEndpoint
	}
	domain := ".amazonaws.com"
	switch {
	case strings.HasPrefix(cfg.Region, "cn-"):
		domain = ".amazonaws.com.cn"
	case strings.HasPrefix(cfg.Region, "eusc-"):
		domain = ".amazonaws.eu"
	}
	return "https://" + service + "." + cfg.Region + domain
}
