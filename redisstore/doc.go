// Package redisstore keeps buckets in Redis, so that the limit is one whatever
// number of instances serve: on a single server, a Cluster or behind Sentinel,
// through rueidis.
//
//	store, err := redisstore.Open(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
//	if err != nil {
//		return err
//	}
//	defer store.Close()
//	limiter, err := core.New(store, plans)
//
// [Open] owns its client, and works as soon as Redis does, also when Redis is
// down at start. [New] takes a client of yours, which stays yours. For that
// one, set DisableCache (the cache is not used, and old servers refuse it),
// AlwaysPipelining (else a timeout closes the connection under others), and a
// ConnWriteTimeout of about 1 s (behind Sentinel a frozen master is not left
// without it); leave ConnLifetime at 0, which may charge a check twice. With a
// client of yours a connection has to be made within one check's time, three
// round trips over TLS; what Open begins it ends, in the background. A rueidis
// client with ForceSingleClient is usable although NewClient returned an error
// beside it, because Redis was down. Where other code uses the client without a
// deadline, a check that needs a connection while that code connects waits for
// it, up to the Dialer's Timeout; give the store a client of its own.
//
// # A check
//
// A check is one script call that judges by the clock of Redis: all windows
// are charged or none, whatever runs beside it. It is called by EVALSHA, loaded
// where Redis does not know it, and repeated where a Cluster has done nothing
// because the keys are on their way (TRYAGAIN), but never otherwise: a reply
// that was lost has been charged. Cancelling the request does not recall it,
// nor does a deadline of the request that is earlier than the store's.
//
// Charges of one bucket of a lone GCRA window that come while one of them is
// under way wait for it and share the next call, which judges them one by one
// in the order in which they came. So a caller whom many requests ask for at
// once costs Redis one call a round trip, and a check takes two at most. Where
// nothing is under way for the bucket, nobody waits; and nobody waits for more
// than a quarter of a check's time: then charges go alone for a second.
//
// # When Redis is slow or away
//
// A check takes 105 ms at most ([WithTimeout]). At most 512 are in flight
// ([WithMaxInFlight]); further ones fail at once. After five failures in a row
// a breaker opens ([WithBreaker]): checks fail at once, and one probe every
// 200 ms sees whether Redis is back. What a failed check means for the request
// is the limiter's policy, core.OnStorageError. A check that timed out may
// have been charged when Redis gets to it, so a caller may find up to that
// many units fewer, never more.
//
// # Keys and rights
//
// A lone GCRA window, the usual plan, is one string, trt:free:<hex of SHA-1 of
// the id>: its tat in microseconds as a decimal number, with the time until it
// is full as expiry. Other services that keep the same format share the limit.
// Any other set of windows is trt:{free:<hex>}:gcra1s+gcra24h, with a key for
// each sliding log behind it. [Store.RedisKey] tells. Ids are only ever hashed;
// with [WithKeySecret] nobody can find them out by guessing.
//
// A Redis user needs ~trt:* and +evalsha +eval +get +set +time +ping; for
// sliding logs also +del +pexpire +zadd +zcard +zrange +zrangebyscore
// +zremrangebyrank +zremrangebyscore; in a Cluster +cluster +asking, behind
// Sentinel +role. Use an instance that does not evict (maxmemory-policy
// noeviction), or a full memory forgets what was spent.
//
// # What it does not do
//
// It does not limit while Redis is away. A master that was cut off may accept
// checks for a moment beside its successor.
package redisstore
