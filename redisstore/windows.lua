-- Does one request to a set of windows, of any algorithms: all or nothing. It
-- mirrors core/state.go (Apply), core/gcra.go, core/fixedwindow.go and
-- core/slidinglog.go, function by function: change both or neither.
--
-- KEYS        first, unless all windows are sliding logs, the numbers of the
--             set: one field a window joined by spaces, a GCRA's tat, a fixed
--             window's start:used, '-' for a log; then one key for each log
-- ARGV[1]     'charge', 'look' or 'force'
-- ARGV[2]     cost in units, below 0 to give back
-- ARGV[3]     now in microseconds, from a test's clock; '': this server's clock
-- ARGV[4..]   for each window: 'g' T tau | 'f' length count | 'l' length count
--
-- Returns allowed (1 or 0), the units that every window took, and for each
-- window remaining, reset and retry, the latter two in microseconds. Numbers
-- are whole and stay below 2^53, so doubles hold them exactly.
--
-- A log is a sorted set: a member is when units were spent, its score is the
-- running total once they were, so that a search finds the entry with which a
-- given number of units has left. The member 'base' has the running total
-- before the oldest entry. A request costs a few searches, whatever the limit.

local JITTER = 1000000
local LONGEST = 4503599627370496 -- 2^52
local EXACT = 9007199254740992 -- 2^53
local MOST_DROPPED = 256 -- entries that one request drops, so that none takes long

local mode, cost = ARGV[1], tonumber(ARGV[2])
local now, slack = tonumber(ARGV[3]), 3600000
if not now then
	local time = redis.call('TIME')
	now, slack = time[1] * 1000000 + time[2], 0
end

local function text(n)
	return string.format('%.0f', n)
end

local function whole(s)
	local n = s and string.find(s, '^%d+$') and tonumber(s)
	return n and n < EXACT and n or nil
end

-- ttl is what a key needs that is as good as none after so many microseconds.
local function ttl(us)
	return text(math.max(math.ceil(us / 1000), 1) + slack)
end

-- read asks for what a key holds. A value of another type counts as none and is
-- overwritten; any other error is the caller's to know.
local function read(...)
	local reply = redis.pcall(...)
	if type(reply) == 'table' and reply.err then
		if string.sub(reply.err, 1, 9) ~= 'WRONGTYPE' then
			error(reply.err, 0)
		end
		return nil, true
	end
	return reply, false
end

-- GCRA: debt is tat - now ----------------------------------------------------

local gcra = {}

function gcra.open(w, field)
	local tat = whole(field)
	w.debt = tat and tat > now and tat - now or 0
	w.mended = w.debt > w.tau + JITTER
	if w.mended then
		w.debt = w.tau
	end
end

function gcra.wait(w)
	if cost > math.floor(LONGEST / w.step) then
		return LONGEST
	end
	return math.max(w.debt - w.tau + w.step * cost, 0)
end

function gcra.charge(w)
	w.debt = w.debt + w.step * cost
end

function gcra.force(w)
	local fit = math.floor(math.max(w.tau - w.debt, 0) / w.step)
	if cost <= fit then
		w.debt = w.debt + w.step * cost
		return cost
	end
	w.debt = math.max(w.debt, w.tau)
	return fit
end

function gcra.giveBack(w, units)
	if units > math.floor(w.debt / w.step) then
		w.debt = 0
	else
		w.debt = w.debt - w.step * units
	end
end

function gcra.level(w)
	return math.floor(math.max(w.tau - w.debt, 0) / w.step), w.debt
end

function gcra.field(w)
	return text(now + w.debt)
end

-- Fixed window ---------------------------------------------------------------

local fixed = {}

function fixed.open(w, field)
	w.start, w.used = now - now % w.length, 0
	local start, used = string.match(field or '', '^(%d+):(%d+)$')
	start, used = whole(start), whole(used)
	if not start or not used or start < w.start then
		return
	end
	w.used = used
	if now >= start - JITTER then
		w.start = start
	else
		w.mended = true
	end
end

function fixed.wait(w)
	if cost <= w.count - w.used then
		return 0
	end
	return w.start + w.length - now
end

function fixed.charge(w)
	w.used = w.used + cost
end

function fixed.force(w)
	local fit = math.min(cost, math.max(w.count - w.used, 0))
	w.used = w.used + fit
	return fit
end

function fixed.giveBack(w, units)
	w.used = math.max(w.used - units, 0)
end

function fixed.level(w)
	return math.max(w.count - w.used, 0), w.used > 0 and w.start + w.length - now or 0
end

function fixed.field(w)
	return text(w.start) .. ':' .. text(w.used)
end

-- Sliding log ----------------------------------------------------------------

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

-- One request ----------------------------------------------------------------

local windows, numbers = {}, false
for i = 4, #ARGV, 3 do
	local kind, a, b = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
	local w = { mended = false }
	if kind == 'g' then
		w.is, w.step, w.tau = gcra, a, b
	else
		w.is, w.length, w.count = kind == 'f' and fixed or log, a, b
	end
	numbers = numbers or w.is ~= log
	windows[#windows + 1] = w
end

local fields, key = {}, 0
if numbers then
	key = 1
	for field in string.gmatch(read('GET', KEYS[1]) or '', '[^ ]+') do
		fields[#fields + 1] = field
	end
	if #fields ~= #windows then
		fields = {}
	end
end

local allowed, mended, waits = true, false, {}
for i, w in ipairs(windows) do
	if w.is == log then
		key = key + 1
		w.key = KEYS[key]
	end
	w.is.open(w, fields[i])
	mended = mended or w.mended
	waits[i] = 0
	if mode ~= 'force' and cost > 0 then
		waits[i] = w.is.wait(w)
		allowed = allowed and waits[i] == 0
	end
end

-- save writes the numbers, and those windows that only says.
local function save(only)
	local longest = 0
	for i, w in ipairs(windows) do
		if w.is == log then
			fields[i] = '-'
			if only(w) then
				log.save(w)
			end
		else
			if only(w) or not fields[i] then
				fields[i] = w.is.field(w)
			end
			local _, reset = w.is.level(w)
			longest = math.max(longest, reset)
		end
	end
	if numbers then
		redis.call('SET', KEYS[1], table.concat(fields, ' '), 'PX', ttl(longest))
	end
end

local function every()
	return true
end

local taken = 0
if mode == 'force' then
	taken = cost
	for _, w in ipairs(windows) do
		if cost >= 0 then
			taken = math.min(taken, w.is.force(w))
		else
			w.is.giveBack(w, -cost)
		end
	end
	save(every)
elseif mode == 'charge' and cost > 0 and allowed then
	taken = cost
	for _, w in ipairs(windows) do
		w.is.charge(w)
	end
	save(every)
elseif mode == 'charge' and cost > 0 and mended then
	-- Whoever waits as a refusal says must not be refused again.
	save(function(w)
		return w.mended
	end)
end

local reply = { allowed and 1 or 0, taken }
for i, w in ipairs(windows) do
	local remaining, reset = w.is.level(w)
	reply[#reply + 1] = remaining
	reply[#reply + 1] = reset
	reply[#reply + 1] = waits[i]
end
return reply
