-- request.lua -- posts one body after the other, each with another key.
--
-- Arguments: the operation, a file with the body, in which every @KEY@ stands for the key and @TOKEN@
-- for a text that no other request has, and the number of keys to choose from. Keys are eight digits
-- and tokens 36, so that all bodies have one length. A fourth argument is how many milliseconds each
-- connection waits between two requests, on average: for clients that leave the server time.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"
dofile(folder .. "report.lua")

local KEY = "99999999"
local TOKEN = string.rep("8", 36)
local pieces = {} -- Of the request; every second one is a key or a token.
local keys = {} -- Which of them are keys.
local tokens = {}
local request_count = 0
local key_count = 0
local thread_count = 0

-- Runs once per thread, in the main state: each thread gets another seed.
function setup(thread)
  thread_count = thread_count + 1
  thread:set("seed", thread_count)
end

function init(arguments)
  math.randomseed(seed)
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/x-amz-json-1.0"
  wrk.headers["X-Amz-Target"] = "DynamoDB_20120810." .. arguments[1]
  wrk.headers["X-Amz-Date"] = "20260101T000000Z"
  wrk.headers["Authorization"] = "AWS4-HMAC-SHA256 Credential=AKIABENCH/20260101/us-east-1/"
    .. "dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature="
    .. string.rep("0", 64)
  local file = assert(io.open(arguments[2]))
  local template = file:read("*a")
  file:close()
  key_count = tonumber(arguments[3])
  if arguments[4] then
    local pause_ms = tonumber(arguments[4])
    function delay() -- wrk asks whether there is one once this function has returned.
      return math.random(0, 2 * pause_ms)
    end
  end
  -- The request is built once; only keys and tokens in the middle change.
  local body = template:gsub("@KEY@", KEY):gsub("@TOKEN@", TOKEN)
  local request = wrk.format(nil, "/", nil, body)
  local from = 1
  while from do
    local key_at, key_end = request:find(KEY, from, true)
    local token_at, token_end = request:find(TOKEN, from, true)
    local is_key = key_at and (not token_at or key_at < token_at)
    local at, to = is_key and key_at or token_at, is_key and key_end or token_end
    pieces[#pieces + 1] = request:sub(from, at and at - 1)
    if at then
      pieces[#pieces + 1] = ""
      table.insert(is_key and keys or tokens, #pieces)
    end
    from = to and to + 1
  end
end

function request()
  local key = string.format("%08d", math.random(0, key_count - 1))
  for _, index in ipairs(keys) do
    pieces[index] = key
  end
  if #tokens > 0 then
    request_count = request_count + 1
    for _, index in ipairs(tokens) do
      pieces[index] = string.format("%04d%016d%016d", seed, os.time(), request_count)
    end
  end
  return table.concat(pieces)
end
