# docker build -t quorum . && docker run --rm -v "$PWD:/work" quorum review
FROM rust:1.95-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc g++ make && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN cargo build --release --locked -p quorum

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends git ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home quorum \
    # The mounted repository belongs to whoever mounts it.
    && git config --system --add safe.directory /work
COPY --from=build /source/target/release/quorum /usr/local/bin/quorum
USER quorum
WORKDIR /work
ENTRYPOINT ["quorum"]
