-- The request of windows.lua: all windows or none. It mirrors core/state.go.

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
