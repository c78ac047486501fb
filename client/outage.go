package client

import "github.com/legation/legation/a2a"

// outage is an interruption of the following of a task, told once when it
// begins and once when it is over. A stream and the polling it falls back to
// share one.
type outage struct {
	client *Client
	id     a2a.TaskID
	lasts  bool
}

func (o *outage) begin(id a2a.TaskID, cause error) {
	if o.lasts {
		return
	}
	o.id, o.lasts = id, true
	if tell := o.client.cfg.Interrupted; tell != nil {
		tell(id, cause)
	}
}

func (o *outage) end() {
	if !o.lasts {
		return
	}
	o.lasts = false
	if tell := o.client.cfg.Resumed; tell != nil {
		tell(o.id)
	}
}
