-- Charges a lone GCRA window, the usual plan, in one step. It mirrors
-- core/gcra.go (openGCRA, wait, charge): change both or neither.
--
-- KEYS[1]  the bucket: its tat in microseconds since 1970 as a decimal string
-- ARGV[1]  T x cost in microseconds, above 0
-- ARGV[2]  tau = T x burst in microseconds, at most 2^52
-- ARGV[3]  now in microseconds, from a test's clock; absent: this server's clock
--
-- Returns one integer, the cheapest reply there is: allowed, how long until the
-- bucket is full (r >= 0); refused, the same as -1 - r. The client knows the
-- rest. Numbers are whole and stay below 2^53, so doubles hold them exactly.

local redis, string, ARGV, KEYS = redis, string, ARGV, KEYS -- cheaper than looking them up again
local charge, tau = ARGV[1] + 0, ARGV[2] + 0 -- cheaper than tonumber
local now, slack = ARGV[3], 3600000
if now then
	now = now + 0
else
	local time = redis.call('TIME')
	now, slack = time[1] * 1000000 + time[2], 0
end

-- A value that is no tat, or of another type, counts as none and is overwritten.
-- Any other error is the caller's to know: swallowed, it would let all pass.
local stored = redis.pcall('GET', KEYS[1])
local debt = 0 -- tat - now
if stored then
	if stored.err then -- a table; a string has no such field
		if string.sub(stored.err, 1, 9) ~= 'WRONGTYPE' then
			return stored
		end
	elseif string.find(stored, '^%d+$') then
		local tat = stored + 0
		if tat > now and tat < 9007199254740992 then
			debt = tat - now
		end
	end
end

-- The clock was set back, or the quota shrank.
local mended = debt > tau + 1000000
if mended then
	debt = tau
end

local allowed = debt + charge <= tau
if allowed then
	debt = debt + charge
end
if allowed or mended then
	-- In two parts it fits '%d' where that has 32 bits too; tostring keeps 14
	-- digits only, and '%.0f' is dear. The milliseconds are rounded up.
	local tat = now + debt
	local low, ttl = tat % 100000000, (debt + 999) / 1000 + slack
	redis.call('SET', KEYS[1], string.format('%d%08d', (tat - low) / 100000000, low),
		'PX', ttl < 2147483648 and string.format('%d', ttl) or string.format('%.0f', ttl - ttl % 1))
end
return allowed and debt or -1 - debt
