# A Redis or Valkey server with the module:
#   docker build -t redis-rl .
#   docker run -p 127.0.0.1:6379:6379 redis-rl
#   redis-cli RL.SLIDING user:42 60 100
# Options of the server follow the image's name: docker run … redis-rl --maxmemory 1gb
# And rlaas, the service in front of it, whose rules are in ./rules:
#   docker build --target service -t rlaas .
#   docker run -p 127.0.0.1:8081:8081 -v "$PWD/rules:/etc/rlaas/rules:ro" rlaas --redis redis://<host>:6379
#
# The module and both base images support x86-64 and arm64. Build on the architecture that the image will run on, or
# let docker buildx --platform linux/amd64,linux/arm64 build both; the other architecture is emulated, which is slow.
# BuildKit is not needed.

# The module is built on Debian bookworm: it then also runs on the newer C library of the server's image.
ARG RUST_IMAGE=rust:1-slim-bookworm
# Valkey, because its BSD license lets you redistribute the image; 8.1, because Debian 13 has it. Any official image
# that is based on Debian works too. Those based on Alpine do not, as they have another C library:
#   --build-arg SERVER_IMAGE=redis:8.2-bookworm, redis:7.4-bookworm, valkey/valkey:9.1 …
ARG SERVER_IMAGE=valkey/valkey:8.1
# Nothing is run in it, so an image without a shell works too, if it has the C library of Debian.
ARG SERVICE_IMAGE=debian:bookworm-slim

FROM ${RUST_IMAGE} AS sources
WORKDIR /build
# In its own layer, so that a changed source file does not install the tools again.
COPY scripts/install scripts/
# It reads the oldest Rust that is supported there.
COPY Cargo.toml ./
RUN scripts/install build && rm -rf /var/lib/apt/lists/*
# .dockerignore lets only the files that the build reads pass.
COPY . .

FROM sources AS build
# What git describe says of the sources, which is part of the version: .git is not there.
ARG RL_DESCRIBE=
# Function names stay, for the backtraces in the server's log; the other debug information is removed.
RUN CARGO_PROFILE_RELEASE_DEBUG=false CARGO_PROFILE_RELEASE_STRIP=debuginfo cargo build --release --locked --lib \
 && mkdir -p /image/usr/lib/redis/modules /image/usr/local/etc/redis-rl /image/usr/local/bin /image/usr/share/doc/redis-rl \
 && mkdir /volume && mkdir -m 1777 /volume/data \
 && cp target/release/libredis_rl.so /image/usr/lib/redis/modules/ \
 && cp redis.conf deploy/images/image.conf deploy/images/default.conf /image/usr/local/etc/redis-rl/ \
 && cp deploy/images/redis-rl-entrypoint deploy/images/redis-rl-healthcheck /image/usr/local/bin/ \
 && cp LICENSE /image/usr/share/doc/redis-rl/

FROM ${SERVER_IMAGE} AS server
ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="redis-rl" \
      org.opencontainers.image.description="A Redis or Valkey server with rate limiting as native commands" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /image/ /
# Any user may write to a new volume, so that docker run --user works: a new volume gets the mode and the owner of this
# directory. The base image has declared it a volume, so the classic builder changes it by COPY only, and BuildKit by
# RUN only. 999 is the server's user in all of the official images.
COPY --from=build --chown=999:999 /volume/ /
RUN chmod 1777 /data
# The data directory of the official images. It is a volume, so a new container can go on with the same data.
WORKDIR /data
VOLUME /data
EXPOSE 6379
# As in the official images, it starts as root, gives /data to the server's user and becomes that user. With --user it
# is that user from the start.
ENTRYPOINT ["redis-rl-entrypoint"]
CMD []
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["redis-rl-healthcheck"]

FROM sources AS service-build
ARG RL_DESCRIBE=
RUN cargo build --profile service --locked --package rlaas --bin rlaas \
 && mkdir -p /image/usr/bin /image/usr/share/doc/rlaas /image/etc/ssl/certs /image/etc/rlaas/rules \
 && cp target/service/rlaas /image/usr/bin/ \
 # Envoy Gateway starts /bin/ratelimit.
 && ln -s rlaas /image/usr/bin/ratelimit \
 && cp LICENSE /image/usr/share/doc/rlaas/ \
 # The authorities that a server with TLS, or a collector of traces, may have.
 && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/

FROM ${SERVICE_IMAGE} AS service
ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="rlaas" \
      org.opencontainers.image.description="Rate limits as a service, on Redis or Valkey with the module redis-rl" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=service-build /image/ /
# In a container, requests come from outside. These are the variables that count the least, so that every other wins.
ENV GRPC_HOST=0.0.0.0 HOST=0.0.0.0 PROMETHEUS_ADDR=:9090
# Its rules are in ./rules.
WORKDIR /etc/rlaas
EXPOSE 8080 8081 9090
# It writes no files and needs no user of its own.
USER 65532:65532
ENTRYPOINT ["rlaas", "serve"]

# What docker build makes if it is not told: the server.
FROM server
