-- GCRA in one round trip, by the server's clock: what redis-cell does, as a script.
-- KEYS: the limit. ARGV: microseconds for each token, tokens of burst.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local each = tonumber(ARGV[1])
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now) + each
if arrival - now > each * ARGV[2] then return 0 end
redis.call('SET', KEYS[1], string.format('%.17g', arrival), 'PX', math.ceil((arrival - now) / 1000) + 1)
return 1
