# Rack::Attack in Rails, in config/initializers/, with redis 4.8 or 5.
require "rack/attack"
require "redis"

# A command that is sent again may be charged twice.
REDIS = Redis.new(timeout: 0.1, reconnect_attempts: 0)

Rack::Attack.blocklist("100 a minute") do |request|
  allowed, _, ttl = REDIS.call("RL.ROLLING", "attack:#{request.ip}", "1m", 100)
  request.env["retry_after"] = ttl.to_s
  allowed.zero?
rescue Redis::BaseConnectionError
  false # the server cannot decide
end
Rack::Attack.blocklisted_responder = lambda do |request|
  [429, { "retry-after" => request.env["retry_after"] }, ["Too many requests\n"]]
end
