-- The step `Centre::give_back` (rule 6). KEYS: marker, limit. ARGV: epoch, start, end.
local info = redis.pcall('INFO', 'server')
local server = type(info) == 'string' and string.match(info, 'run_id:(%x+)') or '-'
local marker = redis.call('HMGET', KEYS[1], 'epoch', 'server')
local state = redis.call('HMGET', KEYS[2], 'epoch', 'position')
if marker[1] ~= ARGV[1] or marker[2] ~= server or state[1] ~= ARGV[1] or state[2] ~= ARGV[3] then return 'lost' end
redis.call('HSET', KEYS[2], 'position', ARGV[2])
return 'back'
