-- Charges a lone GCRA window for many requests in one step, one by one in the
-- order of their arrival: what gcra.lua would do to each at the same moment.
-- It mirrors core/gcra.go (openGCRA, wait, charge), and what gcra.lua keeps.
--
-- KEYS[1]   the bucket, as in gcra.lua
-- ARGV[1]   tau in microseconds
-- ARGV[2]   now, as in gcra.lua; '' for this server's clock
-- ARGV[3..] runs of equal requests: T x cost in microseconds, above 0, and how
--           many of them there are
--
-- Returns how long until the bucket was full before the first of them; the
-- client reckons what became of each by the same rules.

local tau = tonumber(ARGV[1])
local now, slack = tonumber(ARGV[2]), 3600000
if not now then
	local time = redis.call('TIME')
	now, slack = time[1] * 1000000 + time[2], 0
end

local stored = redis.pcall('GET', KEYS[1])
local tat, debt = tonumber(stored), 0 -- debt is tat - now
if tat then
	if tat > now and tat < 9007199254740992 and string.find(stored, '^%d+$') then
		debt = tat - now
	end
elseif type(stored) == 'table' and string.sub(stored.err, 1, 9) ~= 'WRONGTYPE' then
	return stored
end

-- The clock was set back, or the quota shrank.
local mended = debt > tau + 1000000
if mended then
	debt = tau
end

local before, after = debt, debt
for i = 3, #ARGV, 2 do
	local charge = tonumber(ARGV[i])
	-- Once one is refused, so are those like it.
	local fit = math.min(tonumber(ARGV[i + 1]), math.floor((tau - after) / charge))
	if fit > 0 then
		after = after + fit * charge
	end
end
if after > before or mended then
	-- Printed as in gcra.lua.
	tat = now + after
	local low, ttl = tat % 100000000, (after + 999) / 1000 + slack
	redis.call('SET', KEYS[1], string.format('%d%08d', (tat - low) / 100000000, low),
		'PX', ttl < 2147483648 and string.format('%d', ttl) or string.format('%.0f', ttl - ttl % 1))
end
return before
