# The server of your choice with the module built in:
#   docker build -t redis-rl .
#   docker run -p 127.0.0.1:6379:6379 redis-rl
#   redis-cli RL.SLIDING user:42 60 100
# What follows the image's name are further options of the server: docker run … redis-rl --maxmemory 1gb
#
# It is built on the architecture that it is to run on; x86-64 and arm64 are known to the module and to both base
# images. docker buildx --platform linux/amd64,linux/arm64 makes both, the foreign one under emulation (slowly).
# Nothing here needs BuildKit.

# Older Debian first: what is built on bookworm's C library also runs on the newer one of the server's image.
ARG RUST_IMAGE=rust:1-slim-bookworm
# Valkey, since whoever passes the image on may do so under plain BSD terms, and 8.1 because it is what Debian 13 has.
# Any official image on Debian does as well (not on Alpine, whose C library is another):
#   --build-arg SERVER_IMAGE=redis:8.2-bookworm, redis:7.4-bookworm, valkey/valkey:9.1 …
ARG SERVER_IMAGE=valkey/valkey:8.1

FROM ${RUST_IMAGE} AS build
WORKDIR /build
# Alone in its layer, so that a changed source does not install the tools again.
COPY scripts/install scripts/
RUN scripts/install build && rm -rf /var/lib/apt/lists/*
# .dockerignore lets through what the build reads, and nothing else.
COPY . .
# The names of functions stay, for the traces in the server's log; the rest of the debug information goes.
RUN CARGO_PROFILE_RELEASE_STRIP=debuginfo cargo build --release --locked --lib \
 && mkdir -p /image/usr/lib/redis/modules /image/usr/local/etc/redis-rl /image/usr/local/bin /image/usr/share/doc/redis-rl \
 && cp target/release/libredis_rl.so /image/usr/lib/redis/modules/ \
 && cp redis.conf docker/image.conf /image/usr/local/etc/redis-rl/ \
 && cp docker/redis-rl-entrypoint docker/redis-rl-healthcheck /image/usr/local/bin/ \
 && cp LICENSE /image/usr/share/doc/redis-rl/

FROM ${SERVER_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="redis-rl" \
      org.opencontainers.image.description="A Redis or Valkey server with rate limiting as native commands" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /image/ /
# Where the official images keep their data; a volume, so that a new container does not begin with an empty limiter.
WORKDIR /data
VOLUME /data
EXPOSE 6379
# It starts as root only to hand /data to the server's own user, then becomes that user, as in the official images.
# --user spares it even that.
ENTRYPOINT ["redis-rl-entrypoint"]
CMD []
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["redis-rl-healthcheck"]
