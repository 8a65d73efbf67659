package exporter

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"io"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/fault"
)

// file is a file under construction. Rows are written as they arrive.
type file interface {
	add(*report.ExportRow) error
	close() error // closes the file, not the writer below it
}

func newFile(format string, to io.Writer) file {
	if format == report.Parquet {
		return parquetFile{billfile.NewParquetWriter(to)}
	}
	z := gzip.NewWriter(to)
	if format == report.NDJSON {
		return lines{z}
	}
	f := cells{z, csv.NewWriter(z)}
	_ = f.w.Write(report.ExportColumns) // close tells
	return f
}

type parquetFile struct{ w *billfile.ParquetWriter }

func (f parquetFile) add(r *report.ExportRow) error { return f.w.Add(r.Charge()) }

func (f parquetFile) close() error { return f.w.Close() }

type lines struct{ z *gzip.Writer }

func (f lines) add(r *report.ExportRow) error {
	_, err := f.z.Write(r.Line())
	return fault.Wrap("write a line", err)
}

func (f lines) close() error { return fault.Wrap("end the lines", f.z.Close()) }

type cells struct {
	z *gzip.Writer
	w *csv.Writer
}

func (f cells) add(r *report.ExportRow) error {
	return fault.Wrap("write a line", f.w.Write(rest.PlainCells(r.Cells(), report.ExportNumbers)))
}

func (f cells) close() error {
	f.w.Flush()
	return fault.Wrap("end the lines", errors.Join(f.w.Error(), f.z.Close()))
}
