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
	return newCells(z, report.ExportColumns, report.ExportNumbers)
}

// newCells begins a file of CSV. An error of its first line is returned by close.
func newCells(z *gzip.Writer, columns []string, numbers int) cells {
	f := cells{z, csv.NewWriter(z), numbers}
	_ = f.w.Write(columns)
	return f
}

// rowFile is a file of rows under construction.
type rowFile interface {
	addRow(rest.Row) error
	close() error
}

// newResourceFile begins a file of resources.
func newResourceFile(format string, to io.Writer) rowFile {
	z := gzip.NewWriter(to)
	if format == report.NDJSON {
		return lines{z}
	}
	return newCells(z, report.RecordColumns, 0)
}

type parquetFile struct{ w *billfile.ParquetWriter }

func (f parquetFile) add(r *report.ExportRow) error { return f.w.Add(r.Charge()) }

func (f parquetFile) close() error { return f.w.Close() }

type lines struct{ z *gzip.Writer }

func (f lines) add(r *report.ExportRow) error { return f.addRow(r) }

func (f lines) addRow(r rest.Row) error {
	_, err := f.z.Write(r.Line())
	return fault.Wrap("write a line", err)
}

func (f lines) close() error { return fault.Wrap("end the lines", f.z.Close()) }

// cells are the fields of CSV. The last numbers columns are numbers.
type cells struct {
	z       *gzip.Writer
	w       *csv.Writer
	numbers int
}

func (f cells) add(r *report.ExportRow) error { return f.addRow(r) }

func (f cells) addRow(r rest.Row) error {
	return fault.Wrap("write a line", f.w.Write(rest.PlainCells(r.Cells(), f.numbers)))
}

func (f cells) close() error {
	f.w.Flush()
	return fault.Wrap("end the lines", errors.Join(f.w.Error(), f.z.Close()))
}
