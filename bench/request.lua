-- request.lua -- posts one body after the other, each with another key.
--
-- Arguments: the operation, a file with the body, in which every @KEY@ stands for the key, and the
-- number of keys to choose from. Keys are eight digits, so that all bodies have one length.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"
dofile(folder .. "report.lua")

local pieces = {}
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
  -- The request is built once; only the key in the middle changes.
  local request = wrk.format(nil, "/", nil, (template:gsub("@KEY@", "99999999")))
  for piece in (request .. "99999999"):gmatch("(.-)99999999") do
    pieces[#pieces + 1] = piece
  end
end

function request()
  return table.concat(pieces, string.format("%08d", math.random(0, key_count - 1)))
end
