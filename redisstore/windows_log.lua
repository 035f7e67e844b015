-- A sliding log of windows.lua, in a sorted set. It mirrors core/slidinglog.go.

local log = {}

-- entry is when units were spent, and the running total.
local function entry(w, rank)
	local e = redis.call('ZRANGE', w.key, rank, rank, 'WITHSCORES')
	return whole(e[1]) or 0, tonumber(e[2])
end

-- total is a running total; nil where a score cannot be one.
local function total(score)
	return score and score >= 0 and score < EXACT and score or nil
end

-- later is the rank of the first entry after t; n + 1 when there is none. It
-- looks near the oldest entry first, where it nearly always is.
local function later(w, t)
	local low, high, step = 1, w.n + 1, 1
	while low < high do
		local probe = math.min(low + step, high) - 1
		if (entry(w, probe)) > t then
			high = probe
			break
		end
		low = probe + 1
		step = step * 2
	end
	while low < high do
		local middle = math.floor((low + high) / 2)
		if (entry(w, middle)) > t then
			high = middle
		else
			low = middle + 1
		end
	end
	return low
end

function log.open(w)
	w.n, w.first, w.newest = 0, 1, 0
	w.base, w.last, w.total = 0, 0, 0 -- running totals before the window and at its end
	local head, wrong = read('ZRANGE', w.key, 0, 0, 'WITHSCORES')
	w.there = wrong or head[1]
	w.corrupt = wrong or head[1] and (head[1] ~= 'base' or not total(tonumber(head[2])))
	if w.corrupt or not head[1] then
		return
	end
	local newest, last = entry(w, -1)
	w.corrupt = not total(last)
	if w.corrupt then
		return
	end
	w.n = redis.call('ZCARD', w.key) - 1
	w.base, w.last = tonumber(head[2]), last
	if w.n == 0 then
		return
	end
	w.newest = newest
	w.first = later(w, now - w.length)
	if w.first > 1 then
		local _, total = entry(w, w.first - 1)
		w.base = total
	end
	w.total = w.last - w.base
	w.mended = w.newest > now + JITTER
end

-- leaves is how long until an entry of t leaves the window.
local function leaves(w, t)
	if w.mended then
		t = math.min(t, now)
	end
	return t + w.length - now
end

function log.wait(w)
	if cost <= w.count - w.total then
		return 0
	end
	if cost > w.count or w.total == 0 then
		return w.length
	end
	local need = w.base + cost - (w.count - w.total)
	local e = redis.call('ZRANGEBYSCORE', w.key, text(need), '+inf', 'LIMIT', 0, 1)
	return leaves(w, whole(e[1]) or now)
end

-- settle drops what has left and writes the mend.
function log.settle(w)
	if w.corrupt then
		redis.call('DEL', w.key)
		w.corrupt, w.there = false, false
	end
	local gone = math.min(w.first - 1, MOST_DROPPED)
	if gone > 0 then
		local _, base = entry(w, gone)
		redis.call('ZREMRANGEBYRANK', w.key, 1, gone)
		redis.call('ZADD', w.key, text(base), 'base')
		w.n, w.first = w.n - gone, w.first - gone
	end
	if w.mended then
		redis.call('ZREMRANGEBYRANK', w.key, later(w, now), -1)
		redis.call('ZADD', w.key, text(w.last), text(now))
		w.n = redis.call('ZCARD', w.key) - 1
		w.newest, w.mended = now, false
	end
end

-- push appends units at now, or beside an entry that a clock's jitter put ahead.
local function push(w, units)
	if w.total == 0 or w.last + units >= EXACT then
		-- Begin a new log, with what is left of the old one, so that running
		-- totals stay exact.
		local kept = w.total > 0 and redis.call('ZRANGE', w.key, w.first, -1, 'WITHSCORES') or {}
		if w.there then -- else a full memory would not refuse what follows
			redis.call('DEL', w.key)
		end
		redis.call('ZADD', w.key, 0, 'base')
		for i = 1, #kept, 2 do
			redis.call('ZADD', w.key, text(kept[i + 1] - w.base), kept[i])
		end
		w.base, w.last, w.first, w.n = 0, w.total, 1, #kept / 2
	end
	local at = w.total > 0 and math.max(now, w.newest) or now
	w.newest, w.last, w.total = at, w.last + units, w.total + units
	redis.call('ZADD', w.key, text(w.last), text(at))
end

function log.charge(w)
	log.settle(w)
	push(w, cost)
end

function log.force(w)
	log.settle(w)
	local fit = math.min(cost, math.max(w.count - w.total, 0))
	if fit > 0 then
		push(w, fit)
	end
	return fit
end

function log.giveBack(w, units)
	log.settle(w)
	units = math.min(units, w.total)
	if units == 0 then
		return
	end
	local last = text(w.last - units)
	local e = redis.call('ZRANGEBYSCORE', w.key, last, '+inf', 'LIMIT', 0, 1, 'WITHSCORES')
	redis.call('ZREMRANGEBYSCORE', w.key, '(' .. last, '+inf')
	if text(tonumber(e[2])) ~= last then
		redis.call('ZADD', w.key, last, e[1]) -- part of an entry stays
	end
	w.last, w.total = w.last - units, w.total - units
	if w.total > 0 then
		w.newest = (entry(w, -1))
	end
end

function log.level(w)
	return math.max(w.count - w.total, 0), w.total > 0 and leaves(w, w.newest) or 0
end

function log.save(w)
	log.settle(w)
	if w.total > 0 then
		redis.call('PEXPIRE', w.key, ttl(w.newest + w.length - now))
	end
end
