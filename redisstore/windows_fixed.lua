-- A fixed window of windows.lua. It mirrors core/fixedwindow.go.

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
