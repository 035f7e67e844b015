-- Charges two GCRA windows in one step, both or neither: the usual plan of a
-- rate and an allowance. It does what windows.lua does for such a set, at half
-- the cost, and mirrors core/gcra.go (openGCRA, wait, charge).
--
-- KEYS[1]     the numbers of the set: both tats in microseconds, joined by a space
-- ARGV[1..2]  T x cost of each window in microseconds, above 0
-- ARGV[3..4]  tau of each
-- ARGV[5]     now, as in gcra.lua
--
-- Returns how long until each is full; refused, the first as -1 - r.

local charge1, charge2, tau1, tau2 = ARGV[1] + 0, ARGV[2] + 0, ARGV[3] + 0, ARGV[4] + 0
local now, slack = ARGV[5], 3600000
if now then
	now = now + 0
else
	local time = redis.call('TIME')
	now, slack = time[1] * 1000000 + time[2], 0
end

local tat1, tat2
local debt1, debt2 = 0, 0 -- tat - now
local stored = redis.pcall('GET', KEYS[1])
if type(stored) == 'table' then
	if string.sub(stored.err, 1, 9) ~= 'WRONGTYPE' then
		return stored
	end
elseif stored then
	tat1, tat2 = string.match(stored, '^(%d+) (%d+)$')
	if tat1 then
		tat1, tat2 = tonumber(tat1) or now, tonumber(tat2) or now
		if tat1 > now and tat1 < 9007199254740992 then
			debt1 = tat1 - now
		end
		if tat2 > now and tat2 < 9007199254740992 then
			debt2 = tat2 - now
		end
	end
end

-- The clock was set back, or the quota shrank.
local mended = false
if debt1 > tau1 + 1000000 then
	debt1, mended = tau1, true
	tat1 = now + debt1
end
if debt2 > tau2 + 1000000 then
	debt2, mended = tau2, true
	tat2 = now + debt2
end

local allowed = debt1 + charge1 <= tau1 and debt2 + charge2 <= tau2
if allowed then
	debt1, debt2 = debt1 + charge1, debt2 + charge2
	tat1, tat2 = now + debt1, now + debt2
end
if allowed or mended then
	-- Printed as in gcra.lua.
	local low1, low2 = tat1 % 100000000, tat2 % 100000000
	local ttl = ((debt1 > debt2 and debt1 or debt2) + 999) / 1000 + slack
	redis.call('SET', KEYS[1], string.format('%d%08d %d%08d', (tat1 - low1) / 100000000, low1, (tat2 - low2) / 100000000, low2),
		'PX', ttl < 2147483648 and string.format('%d', ttl) or string.format('%.0f', ttl - ttl % 1))
end
return { allowed and debt1 or -1 - debt1, debt2 }
