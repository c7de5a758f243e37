module github.com/redis/rueidis

go 1.23
