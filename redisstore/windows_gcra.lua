-- A GCRA window of windows.lua: debt is tat - now. It mirrors core/gcra.go.

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
