-- replay.lua -- sends whole requests from a file, in turn: signatures are made before the run.
--
-- Arguments, as for request.lua: the operation, which the requests have already; the file, in which a
-- NUL ends each request; and a number that has no meaning here.
local folder = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"
dofile(folder .. "report.lua")

local requests = {}
local next_request = 0

function init(arguments)
  local file = assert(io.open(arguments[2], "rb"))
  for text in file:read("*a"):gmatch("[^%z]+") do
    requests[#requests + 1] = text
  end
  file:close()
end

function request()
  next_request = next_request % #requests + 1
  return requests[next_request]
end
