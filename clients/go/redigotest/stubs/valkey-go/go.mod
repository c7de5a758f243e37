module github.com/valkey-io/valkey-go

go 1.23
