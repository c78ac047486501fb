package app

import (
	"context"
	"time"
)

// forgetEvery is how often what is older than it may be kept is removed.
const forgetEvery = time.Hour

// forget removes old evidence until ctx ends: of the audit, and of uses of
// secrets.
func (a *App) forget(ctx context.Context) {
	again := time.NewTicker(forgetEvery)
	defer again.Stop()
	for {
		before := time.Now().Add(-a.cfg.AuditRetention)
		for name, remove := range map[string]func(context.Context, time.Time) (int64, error){
			"audit": a.store.ForgetAudit, "uses of secrets": a.store.ForgetSecretUses,
		} {
			n, err := remove(ctx, before)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				a.log.Error("old entries could not be removed; trying again later", "kind", name, "error", err)
			case n > 0:
				a.log.Info("old entries were removed", "kind", name, "entries", n, "before", before)
			}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}
