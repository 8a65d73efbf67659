// Package links is the worker that makes the addresses of uploads and the links to downloads. Somebody waits for each,
// so it is apart from the workers that import bills and write exports, whose few executions may all be taken for a
// night.
package links

import (
	"context"
	"encoding/json"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// Handler answers billimport.AddressTask and report.ExportLinkTask.
func Handler(p *platform.Platform) workflow.Handler {
	w := &worker{p}
	return w.handle
}

type worker struct{ p *platform.Platform }

func (w *worker) handle(ctx context.Context, input json.RawMessage) (any, error) {
	c, err := workflow.ReadCall(archive.LinkWorker, input)
	if err != nil {
		return nil, err
	}
	switch c.Task {
	case billimport.AddressTask:
		return workflow.RunTask(ctx, c, w.makeAddress)
	case report.ExportLinkTask:
		return workflow.RunTask(ctx, c, w.makeLink)
	}
	return nil, fault.New(fault.Invalid, "%s knows no task %q", archive.LinkWorker, c.Task)
}

// makeAddress makes the address at which a file is put.
func (w *worker) makeAddress(ctx context.Context, in billimport.Question) (billimport.Address, error) {
	url, err := w.p.Inbox.Address(ctx, billimport.UploadName(in.Org, in.UploadID), in.Bytes, in.Until)
	return billimport.Address{URL: url}, err
}

// makeLink returns a link for the download of a file.
func (w *worker) makeLink(ctx context.Context, in report.ExportLinkQuestion) (report.ExportLink, error) {
	url, err := w.p.Outbox.Link(ctx, report.ExportObjectName(in.Org, in.JobID), in.FileName, in.Until)
	return report.ExportLink{URL: url}, err
}
