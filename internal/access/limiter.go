package access

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/legation/legation/internal/lru"
	"github.com/legation/legation/internal/quota"
)

// bucket lets so many through in a minute, and as many at once. It is safe for
// concurrent use.
type bucket struct{ limiter *rate.Limiter }

func newBucket(perMinute int64) *bucket {
	limit, burst := limitOf(perMinute)
	return &bucket{limiter: rate.NewLimiter(limit, burst)}
}

func limitOf(perMinute int64) (rate.Limit, int) {
	if perMinute == quota.None {
		return rate.Inf, 0
	}
	return rate.Limit(float64(perMinute) / 60), int(min(perMinute, 1<<30))
}

// set changes how many are let through.
func (b *bucket) set(perMinute int64, now time.Time) {
	limit, burst := limitOf(perMinute)
	if b.limiter.Limit() != limit || b.limiter.Burst() != burst {
		b.limiter.SetLimitAt(now, limit)
		b.limiter.SetBurstAt(now, burst)
	}
}

// take lets one through, or says how long to wait.
func (b *bucket) take(now time.Time) time.Duration {
	r := b.limiter.ReserveN(now, 1)
	if !r.OK() {
		return time.Minute
	}
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// maxAddresses is how many addresses failures are counted of. An address that
// was forgotten begins anew.
const maxAddresses = 8192

// failures counts refusals by address.
type failures struct {
	perMinute int64
	mu        sync.Mutex
	buckets   *lru.Map[netip.Addr, *bucket]
}

func newFailures(perMinute int) *failures {
	return &failures{perMinute: int64(perMinute), buckets: lru.New[netip.Addr, *bucket](maxAddresses)}
}

// count counts a refusal. If there were too many it returns how long to wait.
func (f *failures) count(address netip.Addr, now time.Time) time.Duration {
	address = network(address)
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.buckets.Get(address)
	if !ok {
		b = newBucket(f.perMinute)
		f.buckets.Put(address, b)
	}
	return b.take(now)
}

// network is what one party usually has: an address of IPv4, a /64 of IPv6.
func network(address netip.Addr) netip.Addr {
	address = address.Unmap().WithZone("")
	if address.Is6() {
		if prefix, err := address.Prefix(64); err == nil {
			return prefix.Addr()
		}
	}
	return address
}
