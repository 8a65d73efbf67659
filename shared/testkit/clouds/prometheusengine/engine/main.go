// This program evaluates PromQL with Prometheus' own engine and storage. It is a module of its own, so that the service
// does not depend on Prometheus. POST /samples stores samples, and /api/v1/query_range answers as Prometheus does.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb"
)

// series are the samples of one series, in seconds since 1970.
type series struct {
	Labels  map[string]string `json:"labels"`
	Samples [][2]float64      `json:"samples"`
}

type server struct {
	db     *tsdb.DB
	engine *promql.Engine
}

func main() {
	dir, err := os.MkdirTemp("", "prometheus-*")
	if err != nil {
		log.Fatal(err)
	}
	options := tsdb.DefaultOptions()
	options.OutOfOrderTimeWindow = (60 * 24 * time.Hour).Milliseconds()
	options.RetentionDuration = (400 * 24 * time.Hour).Milliseconds()
	db, err := tsdb.Open(dir, nil, nil, options, nil)
	if err != nil {
		log.Fatal(err)
	}
	s := &server{db, promql.NewEngine(promql.EngineOpts{
		MaxSamples: 50_000_000, Timeout: 2 * time.Minute, LookbackDelta: 5 * time.Minute,
	})}
	http.HandleFunc("POST /samples", s.store)
	http.HandleFunc("/api/v1/query_range", s.queryRange)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}

func (s *server) store(w http.ResponseWriter, r *http.Request) {
	var all []series
	if err := json.NewDecoder(r.Body).Decode(&all); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	to := s.db.Appender(r.Context())
	for _, one := range all {
		of := labels.FromMap(one.Labels)
		for _, sample := range one.Samples {
			if _, err := to.Append(0, of, int64(sample[0]*1000), sample[1]); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
	}
	if err := to.Commit(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (s *server) queryRange(w http.ResponseWriter, r *http.Request) {
	at := func(name string) time.Time {
		seconds, _ := strconv.ParseFloat(r.FormValue(name), 64)
		return time.UnixMilli(int64(seconds * 1000))
	}
	step, _ := strconv.ParseFloat(r.FormValue("step"), 64)
	points := at("end").Sub(at("start")).Seconds() / step
	if points > 11_000 {
		fail(w, http.StatusBadRequest, "exceeded maximum resolution of 11,000 points per timeseries")
		return
	}
	q, err := s.engine.NewRangeQuery(r.Context(), s.db, nil, r.FormValue("query"), at("start"), at("end"),
		time.Duration(step*float64(time.Second)))
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	defer q.Close()
	s.answer(r.Context(), w, q)
}

func (s *server) answer(ctx context.Context, w http.ResponseWriter, q promql.Query) {
	got := q.Exec(ctx)
	if got.Err != nil {
		fail(w, http.StatusUnprocessableEntity, got.Err.Error())
		return
	}
	matrix, err := got.Matrix()
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	result := []any{}
	for _, one := range matrix {
		values := []any{}
		for _, f := range one.Floats {
			values = append(values, []any{float64(f.T) / 1000, text(f.F)})
		}
		result = append(result, map[string]any{"metric": one.Metric.Map(), "values": values})
	}
	warnings, _ := got.Warnings.AsStrings("", 10, 10)
	write(w, map[string]any{
		"status": "success", "warnings": warnings,
		"data": map[string]any{"resultType": "matrix", "result": result},
	})
}

func text(v float64) string {
	if math.IsInf(v, 0) {
		return fmt.Sprintf("%+f", v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func fail(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "error", "errorType": "bad_data", "error": why})
}

func write(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}
