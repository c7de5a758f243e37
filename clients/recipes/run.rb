# Prints what each of two requests gets: ruby run.rb <file of the recipe>.
load ARGV[0]
require "rack/mock"

application = Rack::Attack.new(->(_) { [200, {}, ["hello"]] })
2.times do
  response = Rack::MockRequest.new(application).get("/", "REMOTE_ADDR" => "192.0.2.1")
  puts [response.status, response["Retry-After"]].compact.join(" ")
rescue Redis::CommandError => error
  puts "500 #{error.message}"
end
