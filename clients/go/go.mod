module example.com/redis-rl/clients/go

go 1.23
