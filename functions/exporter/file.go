package exporter

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"io"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/billfile"
	"lamplighter.dev/shared/domain/costexport"
	"lamplighter.dev/shared/foundation/fault"
)

// file is a file in the making: rows are written as they come.
type file interface {
	add(*costexport.Row) error
	close() error // the file, not what it is written to
}

func newFile(format string, to io.Writer) file {
	if format == costexport.Parquet {
		return parquetFile{billfile.NewParquetWriter(to)}
	}
	z := gzip.NewWriter(to)
	if format == costexport.NDJSON {
		return lines{z}
	}
	f := cells{z, csv.NewWriter(z)}
	_ = f.w.Write(costexport.Columns) // close tells
	return f
}

type parquetFile struct{ w *billfile.ParquetWriter }

func (f parquetFile) add(r *costexport.Row) error { return f.w.Add(r.Charge()) }

func (f parquetFile) close() error { return f.w.Close() }

type lines struct{ z *gzip.Writer }

func (f lines) add(r *costexport.Row) error {
	_, err := f.z.Write(r.Line())
	return fault.Wrap("write a line", err)
}

func (f lines) close() error { return fault.Wrap("end the lines", f.z.Close()) }

type cells struct {
	z *gzip.Writer
	w *csv.Writer
}

func (f cells) add(r *costexport.Row) error {
	return fault.Wrap("write a line", f.w.Write(rest.PlainCells(r.Cells(), costexport.Numbers)))
}

func (f cells) close() error {
	f.w.Flush()
	return fault.Wrap("end the lines", errors.Join(f.w.Error(), f.z.Close()))
}
