-- The step `Centre::draw`; its rules are numbered there. All numbers are integers under 2^53.
-- KEYS: marker, limit, answer of the instance, instances seen. One hash tag.
-- ARGV: terms (4), instance, sequence, least, most, back, what the sender has seen (3).
local function text(n) return string.format('%.0f', n) end
local tokens, micros, burst, lease = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local least, most, back = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local memory = 2 * math.max(lease, 1000000)
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
-- Each start draws it anew, and each promotion: a server that left and came back with an older state is another one.
local info = redis.pcall('INFO', 'replication')
local server = type(info) == 'string' and string.match(info, 'master_replid:(%x+)') or '-'

-- Rule 1.
local marker = redis.call('HMGET', KEYS[1], 'epoch', 'server')
local epoch = tonumber(marker[1] or '')
if not epoch or marker[2] ~= server then
  epoch = now
  redis.call('HSET', KEYS[1], 'epoch', text(epoch), 'server', server)
end
local agreed = table.concat(ARGV, ' ', 1, 4)
local state = redis.call('HMGET', KEYS[2], 'epoch', 'instant', 'position', 'terms')
local here = tonumber(state[1] or '') == epoch
if here and state[4] ~= agreed then return 'terms ' .. state[4] end

-- Rules 2, 3 and 7.
local position = 0
now = math.max(now, epoch)
if here then
  now, position = math.max(now, tonumber(state[2])), tonumber(state[3])
end
if tonumber(ARGV[10]) == epoch then
  local instant, shown = tonumber(ARGV[11]), tonumber(ARGV[12])
  now, position = math.max(now, instant), math.max(position, shown)
  -- Rule 6.
  if shown == position and instant + memory > now then position = math.max(0, position - back) end
end
local elapsed = math.max(0, now - epoch - lease)
local rest = elapsed % micros
local due = (elapsed - rest) / micros * tokens + math.floor(rest * tokens / micros)
position = math.max(position, due - burst)

-- Rule 5.
local answer = redis.call('HMGET', KEYS[3], 'epoch', 'instant', 'sequence', 'answer')
if tonumber(answer[1] or '') == epoch and tonumber(answer[2]) + memory > now then
  if answer[3] == ARGV[6] then return answer[4] end
  if tonumber(answer[3]) > tonumber(ARGV[6]) then return 'old' end
end

-- Rule 4.
-- Who was seen in another epoch is not counted: its instants may be later ones, if the clock was set back.
if not here then redis.call('DEL', KEYS[4]) end
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', text(now - 2 * lease))
redis.call('ZREM', KEYS[4], ARGV[5])
local others = redis.call('ZCOUNT', KEYS[4], text(epoch), '+inf')
local available, granted = math.max(0, due - position), 0
if available >= least then
  granted = math.min(most, math.max(least, math.floor(available / (others + 1))))
end
position = position + granted

local reply = table.concat({ 'draw', ARGV[5], ARGV[6], text(granted), text(epoch), text(now), text(position) }, ' ')
redis.call('HSET', KEYS[2], 'epoch', text(epoch), 'instant', text(now), 'position', text(position), 'terms', agreed)
-- What is full is the same as what is missing. A second more, for the clock of the expiry is another; at most 2^52 ms.
local full = math.min(math.ceil((burst + 1) * micros / tokens / 1000), 4503599627370496)
redis.call('PEXPIRE', KEYS[2], text(full + math.ceil(lease / 500) + 1000))
redis.call('HSET', KEYS[3], 'epoch', text(epoch), 'instant', text(now), 'sequence', ARGV[6], 'answer', reply)
redis.call('PEXPIRE', KEYS[3], text(math.ceil(memory / 1000) + 1000))
if lease > 0 then
  redis.call('ZADD', KEYS[4], text(now), ARGV[5])
  redis.call('PEXPIRE', KEYS[4], text(math.ceil(lease / 500) + 1000))
end
return reply
