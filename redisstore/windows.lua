-- Does one request to a set of windows, of any algorithms: all or nothing. It
-- mirrors core/state.go (Apply), core/gcra.go, core/fixedwindow.go and
-- core/slidinglog.go, function by function: change both or neither. The script
-- is this file and then windows_gcra.lua, windows_fixed.lua, windows_log.lua and
-- windows_request.lua.
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
