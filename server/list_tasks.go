package server

import (
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

const (
	defaultPage  = 50
	largestPage  = 100
	longestToken = 1 << 10
)

// listTasks answers ListTasks. The stored tasks are spliced into the answer,
// whose four members are always there (a2a.proto, ListTasksResponse).
func listTasks(c *call) error {
	req, faults, err := decode[a2a.ListTasksRequest](c)
	if err != nil {
		return err
	}
	size := int32(defaultPage)
	if req.PageSize != nil {
		if size = *req.PageSize; size < 1 || size > largestPage {
			faults.add("pageSize", "must be in 1 to %d, not %d", largestPage, size)
		}
	}
	faults.checkID("contextId", string(req.ContextID))
	faults.checkHistoryLength("historyLength", req.HistoryLength)
	if len(req.PageToken) > longestToken {
		faults.add("pageToken", "must be the nextPageToken of the page before")
	}
	if err := c.checkParams(req.Tenant, faults); err != nil {
		return err
	}
	view := task.View{
		History:   req.HistoryLength,
		Artifacts: req.IncludeArtifacts != nil && *req.IncludeArtifacts,
	}
	page, next, err := c.server.engine.List(c.r.Context(), c.owner, task.ListRequest{
		ContextID: req.ContextID, State: req.Status, Since: req.StatusTimestampAfter,
		Token: req.PageToken, Size: int(size), View: view,
	})
	if err != nil {
		return err
	}
	return c.answer(func(b []byte) []byte {
		b = append(b, `{"tasks":[`...)
		for i := range page.Records {
			if i > 0 {
				b = append(b, ',')
			}
			b = page.Records[i].AppendTask(b, view)
		}
		b = append(b, `],"nextPageToken":`...)
		b, _ = jsontext.AppendQuote(b, next) // ours, so it is UTF-8
		b = append(b, `,"pageSize":`...)
		b = strconv.AppendInt(b, int64(size), 10)
		b = append(b, `,"totalSize":`...)
		b = strconv.AppendInt(b, min(page.Total, math.MaxInt32), 10)
		return append(b, '}')
	})
}
