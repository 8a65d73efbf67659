package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// promTime is the moments at which a query is evaluated: from, and every step until to.
type promTime struct {
	from, to time.Time
	step     time.Duration
}

type promQuery struct {
	expr string
	at   promTime
}

// promResult is a time series of an answer.
type promResult struct {
	Metric map[string]string `json:"metric"`
	Values []promSample      `json:"values"`
}

// promSample is a value at a moment, in seconds since 1970.
type promSample struct{ at, value float64 }

// UnmarshalJSON reads [1772445600, "0.25"].
func (p *promSample) UnmarshalJSON(b []byte) error {
	at, value, ok := bytes.Cut(bytes.Trim(b, "[] \n"), []byte(","))
	if !ok {
		return fmt.Errorf("%.40q is no sample", b)
	}
	var err error
	if p.at, err = strconv.ParseFloat(string(bytes.TrimSpace(at)), 64); err != nil {
		return fmt.Errorf("read the time of a sample: %w", err)
	}
	if p.value, err = strconv.ParseFloat(string(bytes.Trim(value, `" `)), 64); err != nil {
		return fmt.Errorf("read the value of a sample: %w", err)
	}
	return nil
}

// promAnswer is the answer to a query. Thanos and Prometheus list what they could not read as warnings, and
// VictoriaMetrics marks the answer as partial.
type promAnswer struct {
	Status    string   `json:"status"`
	Warnings  []string `json:"warnings"`
	IsPartial bool     `json:"isPartial"`
	Error     string   `json:"error"`
	Data      struct {
		ResultType string       `json:"resultType"`
		Result     []promResult `json:"result"`
	} `json:"data"`
}

// query returns the time series of a query. Partial data are class Unsupported: nobody knows what is missing. The
// transport bounds the answer and repeats the query when the server is busy.
func (s *promServer) query(ctx context.Context, q promQuery) ([]promResult, error) {
	body, err := s.client.callAPI(ctx, s.callOf(q))
	if err != nil {
		return nil, s.errorOf(err)
	}
	var got promAnswer
	if err = json.Unmarshal(body, &got); err != nil || got.Status != "success" || got.Data.ResultType != "matrix" {
		return nil, cloud.ErrUnsupported("%s does not answer as Prometheus does: %.100q", s.name, body)
	}
	if len(got.Warnings) > 0 || got.IsPartial {
		return nil, cloud.ErrUnsupported("%s has a part of the data alone: %.200s", s.name,
			strings.Join(got.Warnings, "; "))
	}
	return got.Data.Result, nil
}

// callOf returns the call of a query. partial_response is Thanos' parameter.
func (s *promServer) callOf(q promQuery) apiCall {
	values := url.Values{
		"query": {q.expr}, "start": {unixText(q.at.from)}, "end": {unixText(q.at.to)},
		"step": {strconv.Itoa(seconds(q.at.step))}, "partial_response": {"false"},
	}
	call := apiCall{method: http.MethodGet, path: append(slices.Clone(s.path), "api", "v1", "query_range")}
	if s.post {
		call.method, call.contentType, call.body = http.MethodPost, "application/x-www-form-urlencoded",
			[]byte(values.Encode())
		return call
	}
	call.query = values
	return call
}

func unixText(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

// pointsOf returns the points of a time series in buckets that end at its moments. Values that are no number are left
// out.
func (r promResult) pointsOf(period time.Duration) cloud.Points {
	p := cloud.Points{Times: make([]time.Time, 0, len(r.Values)), Values: make([]float64, 0, len(r.Values))}
	for _, v := range r.Values {
		if math.IsNaN(v.value) || math.IsInf(v.value, 0) {
			continue
		}
		p.Times = append(p.Times, time.Unix(int64(v.at), 0).UTC().Add(-period))
		p.Values = append(p.Values, v.value)
	}
	return p
}
