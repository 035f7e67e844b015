-- Looks at a lone GCRA window, forces a charge on it or gives back. It mirrors
-- core/gcra.go (openGCRA, force, giveBack), and what gcra.lua keeps.
--
-- KEYS[1]  the bucket, as in gcra.lua
-- ARGV[1]  'look' or 'force'
-- ARGV[2]  force: T x cost in microseconds, below 0 to give back
-- ARGV[3]  tau in microseconds
-- ARGV[4]  now, as in gcra.lua
--
-- Returns how long until the bucket was full before anything was done to it;
-- the client reckons the rest by the same rules.

local charge, tau = tonumber(ARGV[2]), tonumber(ARGV[3])
local now, slack = tonumber(ARGV[4]), 3600000
if not now then
	local time = redis.call('TIME')
	now, slack = time[1] * 1000000 + time[2], 0
end

local stored = redis.pcall('GET', KEYS[1])
local debt = 0
if type(stored) == 'table' then
	if string.sub(stored.err, 1, 9) ~= 'WRONGTYPE' then
		return stored
	end
elseif stored and string.find(stored, '^%d+$') then
	local tat = tonumber(stored)
	if tat and tat > now and tat < 9007199254740992 then
		debt = tat - now
	end
end
if debt > tau + 1000000 then
	debt = tau
end
if ARGV[1] == 'look' then
	return debt
end

local after = math.max(debt + charge, 0)
if charge >= 0 then
	after = math.max(debt, math.min(debt + charge, tau))
end
if after > 0 or stored then
	-- A bucket that is full again is left to expire at once, so that no right to
	-- delete is needed.
	redis.call('SET', KEYS[1], string.format('%.0f', now + after), 'PX', string.format('%.0f', math.max(math.ceil(after / 1000), 1) + slack))
end
return debt
